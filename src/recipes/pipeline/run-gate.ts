import { join } from "node:path";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import type { VerifyContext } from "../../loop/recipe.js";
import { checkFinished, runCheck } from "../../verify/checks.js";
import { ending, readable } from "../../verify/excerpt.js";
import type { TestTally } from "../../verify/no-tests.js";
import { onOneTree } from "../../verify/one-tree.js";
import { donePattern } from "../../verify/pattern.js";
import { lookBefore, type Sealed, whatMoved, whatWasChanged } from "./sealed.js";
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

/** Enough to see the tests that failed and the summary of a long run. */
const KEPT_CHARS = 64_000;
/** As much of it as an agent needs. */
const TOLD_CHARS = 8000;

/** Runs the gate of a state, on a tree that stays as it is. undefined: it was stopped before it could tell. */
export async function* runGate(
  gate: Gate,
  context: PipelineContext,
  verify: VerifyContext,
): AsyncGenerator<LoopEventBody, GateRun | undefined> {
  const pass = {
    run: (again?: string) => runOnce(gate, context, verify, again),
    hasPassed: ({ passed }: GateRun) => passed,
  };
  // A gate that runs no tests may be meant to change something, and need not bear a second run.
  const tree = gate.state.runsTests ? verify.tree : undefined;
  const judged = yield* onOneTree(pass, tree, verify.iteration);
  if (judged?.moved === undefined || !judged.result.passed) return judged?.result;
  const { result, moved } = judged;
  const check = { ...result.check, passed: false, why: moved };
  yield check;
  return { ...result, passed: false, line: `❌ ${moved}`, check };
}

async function* runOnce(
  gate: Gate,
  context: PipelineContext,
  { iteration, stop, kill }: VerifyContext,
  again: string | undefined,
): AsyncGenerator<LoopEventBody, GateRun | undefined> {
  if (stop.aborted) return undefined;
  const { state } = gate;
  const { command, timeoutMs } = state;
  const log = join(context.folderFor(iteration), `gate-${state.name}.log`);
  const place = again === undefined ? {} : { place: 1 };
  yield { type: "check.started", iteration, command, ...place, ...(again !== undefined && { again }) };
  const env = { ...context.env, ...context.gateEnv(state) };
  const look = lookAt(gate, context);
  const brokenBefore = dropCompiled(context.workspace) ?? (await whatIsBroken(gate, context));
  const result = await runCheck(
    { command, timeoutMs },
    { ...context, env, kill, log, keep: { chars: KEPT_CHARS, from: "end" } },
  );
  if (kill.aborted) return undefined;
  const isAsItShould = result.exitCode === state.exitCode && !result.timedOut;
  const why = isAsItShould
    ? (whyNot(gate, result) ??
      result.why ??
      brokenBefore ??
      whatMoved(look, lookAt(gate, context)) ??
      (await whatIsBroken(gate, context)))
    : undefined;
  const passed = isAsItShould && why === undefined;
  const output = ending(readable(why === undefined ? result.output : `${result.output}\n${why}`), TOLD_CHARS);
  const finished = checkFinished({ iteration, command, log }, { ...result, passed }, output);
  const check = { ...finished, ...place, ...(again !== undefined && { again: true as const }) };
  yield check;
  return {
    passed,
    check,
    hasTests: result.tests.isTestRun(),
    line: tellingLine({ ...result, passed, timeoutMs, why, tellsNoCount: state.unknownRunner === true }),
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
  return lookBefore(spec, workspace, state, sealed);
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
