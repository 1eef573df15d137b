import { join } from "node:path";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import type { VerifyContext } from "../../loop/recipe.js";
import type { Check } from "../../verify/check.js";
import { donePattern } from "../../verify/done.js";
import { ending, readable } from "../../verify/excerpt.js";
import type { TestTally } from "../../verify/no-tests.js";
import { runChecks } from "../../verify/schedule.js";
import { printsBefore, type Sealed, whatMoved, whatWasChanged } from "./sealed.js";
import { dropCompiled } from "./sealed-files.js";
import { BEFORE_FILE, type PipelineContext, type PipelineSpec, type PipelineState } from "./spec.js";
import { tellingLine } from "./telling.js";
import { whatWasWeakened } from "./weakened.js";

export interface Gate {
  spec: PipelineSpec;
  state: PipelineState;
  /** It has run tests before. */
  hasTests: boolean;
  sealed: Sealed;
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
  gate: Gate,
  context: PipelineContext,
  verify: VerifyContext,
): AsyncGenerator<LoopEventBody, GateRun | undefined> {
  const { state } = gate;
  const { command, timeoutMs } = state;
  let why: string | undefined;
  const check: Check = {
    command,
    timeoutMs,
    log: join(context.folderFor(verify.iteration), `gate-${state.name}.log`),
    chars: TOLD_CHARS,
    async judge(run) {
      const look = lookAt(gate, context);
      const brokenBefore = dropCompiled(context.workspace) ?? (await whatIsBroken(gate, context));
      const result = await run();
      const { event, output } = result;
      const isAsItShould = event.exitCode === state.exitCode && !event.timedOut;
      why = isAsItShould
        ? (whyNot(gate, result) ??
          event.why ??
          brokenBefore ??
          whatMoved(look, lookAt(gate, context)) ??
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
  const { event, tests, output } = result;
  const { passed, timedOut } = event;
  return {
    passed,
    check: event,
    hasTests: tests.isTestRun(),
    line: tellingLine({
      ...{ passed, timedOut, timeoutMs, output, tests },
      // A gate that passed on files that are gone says so in its event.
      why: why ?? (passed ? undefined : event.why),
      tellsNoCount: state.unknownRunner === true,
    }),
  };
}

/** A gate that exits as it should has not passed for that alone. */
function whyNot(
  { state, hasTests: hadTests }: Gate,
  { tests, output }: { tests: TestTally; output: string },
): string | undefined {
  if (tests.foundNone()) return "no tests were found: nothing was proved";
  if (hadTests && !tests.passed()) return "it ran tests before, and none passes now: nothing was proved";
  if (needsProof(state) && !tests.passed())
    return "its output shows no test that passed: nothing was proved (passCondition can name another proof)";
  if (state.output !== undefined && !donePattern(state.output).test(readable(output)))
    return `the output does not match ${state.output}`;
  return undefined;
}

function lookAt({ spec, state, sealed }: Gate, { workspace }: PipelineContext) {
  return printsBefore(spec, workspace, state, sealed);
}

/** Before a gate runs what agents have written, and after it: what they write can put itself back. */
async function whatIsBroken(
  { spec, state, sealed }: Gate,
  { workspace, records }: PipelineContext,
): Promise<string | undefined> {
  const before = join(records, BEFORE_FILE);
  return whatWasChanged(spec, workspace, sealed) ?? whatWasWeakened(spec, workspace, state, before);
}

function needsProof({ runsTests, output, unknownRunner }: PipelineState): boolean {
  return runsTests === true && output === undefined && unknownRunner !== true;
}
