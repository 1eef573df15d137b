import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { formatDuration } from "../../duration.js";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import type { VerifyContext } from "../../loop/recipe.js";
import { PROGRAM } from "../../package-folder.cjs";
import { writeAlone } from "../../records/files.js";
import { type Check, type CheckResult, hasFailed } from "../../verify/check.js";
import { donePattern } from "../../verify/done.js";
import { firstFailure, oneLine, readable } from "../../verify/excerpt.js";
import { hiddenFailure } from "../../verify/failure.js";
import { runHidden } from "../../verify/hidden.js";
import { type ChecksSetup, runChecks, runConfirmed } from "../../verify/schedule.js";
import { quoteWord } from "../../words.js";
import type { RecipeContext } from "../row.js";
import { NOT_SEALED, type Seals, whatWasChanged } from "./sealed.js";
import { BEFORE_FILE, COMPLETE, type PipelineSpec, type PipelineState } from "./spec.js";

export type GateContext = ChecksSetup & Pick<RecipeContext, "records" | "folderFor">;

/** `hasTests`: it has run tests before. */
type GateCall = { spec: PipelineSpec; state: PipelineState; hasTests: boolean; sealed: Seals };

export interface GateRun {
  passed: boolean;
  line: string;
  warnings: string[];
  hasTests: boolean;
  check: CheckFinished;
}

/** Runs the gate of a state, on a tree that stays as it is. undefined: it was stopped before it could tell. */
export async function* runGate(
  gate: GateCall,
  context: GateContext,
  verify: VerifyContext,
): AsyncGenerator<LoopEventBody, GateRun | undefined> {
  const { spec, state, sealed } = gate;
  const { command, timeoutMs } = state;
  let why: string | undefined;
  const check: Check = {
    command,
    timeoutMs,
    log: join(context.folderFor(verify.iteration), `gate-${state.name}.log`),
    async judge(run) {
      const changed = () => whatWasChanged(spec, context.workspace, sealed);
      const broken = changed();
      const result = await run();
      const { event } = result;
      const isAsItShould = event.exitCode === state.exitCode && !event.timedOut;
      // What a gate runs can put itself back, and can change what was sealed.
      why = isAsItShould ? (whyNot(gate, result) ?? event.why ?? broken ?? changed()) : undefined;
      const told = why === undefined ? event.output : `${event.output}\n${why}`;
      return { ...result, event: { ...event, passed: isAsItShould && why === undefined, output: told } };
    },
  };
  const env = gateEnvironment(spec, state, context);
  // A gate that runs no tests may be meant to change files; without an agent, it may deploy.
  const decides = verify.tree !== undefined && state.agent !== "never";
  const run = !state.runsTests && decides ? runConfirmed : runChecks;
  const tree = state.runsTests ? verify.tree : undefined;
  const [result] = (yield* run([check], { ...context, env }, { ...verify, tree })) ?? [];
  if (result === undefined) return undefined;
  const { event, tests } = result;
  const isLast = state.onPass === COMPLETE && verify.iteration > 0;
  const hidden = event.passed && isLast ? yield* runHidden({ ...context, after: 1 }, verify) : [];
  if (hidden === undefined) return undefined;
  const failed = hidden.find(hasFailed);
  const hasTests = tests.isTestRun();
  if (failed !== undefined) {
    const output = hiddenFailure(failed.event.command);
    return {
      passed: false,
      line: `❌ ${output}`,
      warnings: [],
      hasTests,
      check: { ...failed.event, output },
    };
  }
  // A gate that passed on files that are gone says so in its event.
  const line = tellingLine(state, result, why ?? (event.passed ? undefined : event.why));
  const warnings = warningsIn(result.output);
  return { passed: event.passed, check: event, hasTests, line, warnings };
}

const MAX_WARNINGS = 5;

/** `specs/x.md:1: warning: …`, as ralph's own gates and most compilers write it. */
function warningsIn(output: string): string[] {
  const found = readable(output)
    .split("\n")
    .filter((line) => /^\S.*?:\d+(?::\d+)?: warning: /.test(line))
    .map((line) => oneLine(line, LINE_CHARS));
  const more = found.length - MAX_WARNINGS;
  return more > 1 ? [...found.slice(0, MAX_WARNINGS), `${more} more warnings`] : found;
}

/** What a gate knows. Its `ralph` is this one, wherever it is installed. */
function gateEnvironment(spec: PipelineSpec, state: PipelineState, { records, env }: GateContext) {
  const bin = join(records, "bin");
  mkdirSync(bin, { recursive: true, mode: 0o700 });
  const script = `#!/bin/sh\nexec ${quoteWord(process.execPath)} ${quoteWord(PROGRAM)} "$@"\n`;
  writeAlone(join(bin, "ralph"), script, 0o700);
  // Where agents were asked to write what the gate judges, what was there before the run does not count.
  const begun = spec.states.slice(0, spec.states.findIndex(({ name }) => name === state.name) + 1);
  const asksForWork = begun.some(({ agent }) => agent === "before");
  return {
    ...env,
    PATH: `${bin}:${env["PATH"] ?? ""}`,
    RALPH_STATE: state.name,
    RALPH_SPEC_FILE: spec.specFile,
    RALPH_PRP_FILE: spec.prpFile,
    ...(spec.testCommand !== undefined && { RALPH_TEST_COMMAND: spec.testCommand }),
    RALPH_BEFORE: join(records, BEFORE_FILE),
    RALPH_ONLY_NEW: asksForWork ? "1" : "",
  };
}

/** Runs every gate that changes nothing once before the first state. undefined: it was stopped before the last one. */
export async function* gatesBefore(
  spec: PipelineSpec,
  context: GateContext,
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
  if (tests.foundNone()) return "no tests were found: this proves nothing";
  if (hadTests && !tests.passed()) return "it ran tests before, and none passes now: this proves nothing";
  const { runsTests, unknownRunner, output: pattern } = state;
  if (runsTests && !unknownRunner && pattern === undefined && !tests.passed())
    return "its output shows no passed test, so it proves nothing (passCondition can name another proof)";
  if (pattern === undefined || donePattern(pattern).test(readable(output))) return undefined;
  return `the output does not match ${pattern}`;
}

const LINE_CHARS = 300;
const NO_COUNT = "⚠️ passed, but its output does not say how many tests ran";

/** The one line of an output that says most. `why`: it does not count, whatever it says. */
export function tellingLine(
  { timeoutMs, unknownRunner }: PipelineState,
  { event: { passed, timedOut }, output, tests }: Pick<CheckResult, "event" | "output" | "tests">,
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
  return oneLine((passed ? undefined : firstFailure(output)) ?? last, LINE_CHARS);
}
