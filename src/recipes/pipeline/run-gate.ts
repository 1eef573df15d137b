import { join } from "node:path";
import { formatDuration } from "../../duration.js";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import type { VerifyContext } from "../../loop/recipe.js";
import type { Check, CheckResult } from "../../verify/check.js";
import { donePattern } from "../../verify/done.js";
import { ending, oneLine, readable } from "../../verify/excerpt.js";
import { runChecks } from "../../verify/schedule.js";
import { dropCompiled } from "./deciding.js";
import {
  NOT_SEALED,
  printsBefore,
  type Seals,
  whatMoved,
  whatWasChanged,
  whatWasWeakened,
} from "./sealed.js";
import { BEFORE_FILE, type PipelineContext, type PipelineSpec, type PipelineState } from "./spec.js";

export interface GateCall {
  spec: PipelineSpec;
  state: PipelineState;
  /** It has run tests before. */
  hasTests: boolean;
  sealed: Seals;
}

export interface GateRun {
  passed: boolean;
  /** The line that tells most. */
  line: string;
  /** Its output shows tests. */
  hasTests: boolean;
  check: CheckFinished;
}

/** As much of its output as an agent needs. */
const TOLD_CHARS = 8000;

/** Runs the gate of a state, on a tree that stays as it is. undefined: it was stopped before it could tell. */
export async function* runGate(
  gate: GateCall,
  context: PipelineContext,
  verify: VerifyContext,
): AsyncGenerator<LoopEventBody, GateRun | undefined> {
  const { spec, state, sealed } = gate;
  const { command, timeoutMs } = state;
  const prints = () => printsBefore(spec, context.workspace, state, sealed);
  let why: string | undefined;
  const check: Check = {
    command,
    timeoutMs,
    log: join(context.folderFor(verify.iteration), `gate-${state.name}.log`),
    chars: TOLD_CHARS,
    async judge(run) {
      const before = prints();
      const brokenBefore = dropCompiled(context.workspace) ?? (await whatIsBroken(gate, context));
      const result = await run();
      const { event, output } = result;
      const isAsItShould = event.exitCode === state.exitCode && !event.timedOut;
      why = isAsItShould
        ? (whyNot(gate, result) ??
          event.why ??
          brokenBefore ??
          whatMoved(before, prints()) ??
          (await whatIsBroken(gate, context)))
        : undefined;
      const told = why === undefined ? event.output : ending(readable(`${output}\n${why}`), TOLD_CHARS);
      return { ...result, event: { ...event, passed: isAsItShould && why === undefined, output: told } };
    },
  };
  const env = { ...context.env, ...context.gateEnv(state) };
  // A gate that runs no tests may be meant to change something, and need not bear a second run.
  const tree = state.runsTests ? verify.tree : undefined;
  const [result] = (yield* runChecks([check], { ...context, env }, { ...verify, tree })) ?? [];
  if (result === undefined) return undefined;
  const { event, tests } = result;
  // A gate that passed on files that are gone says so in its event.
  const reason = why ?? (event.passed ? undefined : event.why);
  const hasTests = tests.isTestRun();
  return { passed: event.passed, check: event, hasTests, line: tellingLine(state, result, reason) };
}

/** Runs every gate that changes nothing once before the first state. undefined: it was stopped before the last one. */
export async function* gatesBefore(
  spec: PipelineSpec,
  context: PipelineContext,
  before: VerifyContext,
): AsyncGenerator<LoopEventBody, CheckFinished[] | undefined> {
  // Where no agent can mend it, a gate often does something, such as a deploy; ralph's own gates do nothing.
  const harmless = spec.states.filter(
    ({ agent, command }) => agent !== "never" || /^\s*ralph gate [^;&|<>()$`\n]*$/.test(command),
  );
  // Where several states run the same command, the condition of the last one has to hold in the end.
  const states = new Map(harmless.map((state) => [state.command, state])).values();
  const results: CheckFinished[] = [];
  for (const state of states) {
    const gate = yield* runGate({ spec, state, hasTests: false, sealed: NOT_SEALED }, context, before);
    if (gate === undefined) return undefined;
    results.push(gate.check);
  }
  return results;
}

/** A gate that exits as it should has not passed for that alone. */
function whyNot(
  { state, hasTests: hadTests }: GateCall,
  { tests, output }: Pick<CheckResult, "tests" | "output">,
): string | undefined {
  if (tests.foundNone()) return "no tests were found: nothing was proved";
  if (hadTests && !tests.passed()) return "it ran tests before, and none passes now: nothing was proved";
  const { runsTests, unknownRunner, output: pattern } = state;
  if (runsTests && !unknownRunner && pattern === undefined && !tests.passed())
    return "its output shows no test that passed: nothing was proved (passCondition can name another proof)";
  if (pattern === undefined || donePattern(pattern).test(readable(output))) return undefined;
  return `the output does not match ${pattern}`;
}

/** Before a gate runs what agents have written, and after it: what they write can put itself back. */
async function whatIsBroken(
  { spec, state, sealed }: GateCall,
  { workspace, records }: PipelineContext,
): Promise<string | undefined> {
  const before = join(records, BEFORE_FILE);
  return whatWasChanged(spec, workspace, sealed) ?? whatWasWeakened(spec, workspace, state, before);
}

/** What a line is made of. */
interface GateOutput extends Pick<CheckResult, "output"> {
  event: Pick<CheckFinished, "passed" | "timedOut">;
  tests: Pick<CheckResult["tests"], "passed">;
}

const LINE_CHARS = 300;
const NO_COUNT = "⚠️ passed, but its output does not tell how many tests ran";

/** What names a failure in an output: tests first, the most exact way first. */
const TELLING = [
  /^FAILED \S+/,
  /^ERROR \S+/,
  /^not ok \d+/,
  /^\s*(?:✖|✗|×|--- FAIL:)\s+\S/,
  /^test .* \.\.\. FAILED$/,
  /^\s*FAIL\s+\S/,
  /: error: /,
  /\berror\b/i,
  /\bfail/i,
  /\bnot found\b/i,
];

/** The one line of an output that says most. `why`: it does not count, whatever it says. */
export function tellingLine(
  { timeoutMs, unknownRunner }: Pick<PipelineState, "timeoutMs" | "unknownRunner">,
  { event: { passed, timedOut }, output, tests }: GateOutput,
  why: string | undefined,
): string {
  if (timedOut) return `❌ timed out after ${formatDuration(timeoutMs)}`;
  if (why !== undefined) return `❌ ${why}`;
  if (passed && tests.passed()) return "✅ All tests passed";
  const lines = readable(output)
    .split("\n")
    .filter((line) => line.trim() !== "");
  if (passed && unknownRunner) return oneLine([NO_COUNT, ...lines.slice(-1)].join(": "), LINE_CHARS);
  const last = lines.at(-1) ?? (passed ? "✅ passed" : "❌ it printed nothing");
  const found = TELLING.map((pattern) => lines.find((line) => pattern.test(line)));
  return oneLine((passed ? undefined : found.find((line) => line !== undefined)) ?? last, LINE_CHARS);
}
