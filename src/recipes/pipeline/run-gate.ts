import { join } from "node:path";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import { type CheckResult, checkFinished, runCheck } from "../../verify/checks.js";
import { ending, readable } from "../../verify/excerpt.js";
import { foundNoTests } from "../../verify/no-tests.js";
import { donePattern } from "../../verify/pattern.js";
import type { VerifyContext } from "../recipe.js";
import type { PipelineContext } from "./pipeline.js";
import type { PipelineState } from "./pipeline-state.js";
import { tellingLine } from "./telling.js";

export interface GateRun {
  passed: boolean;
  /** The line that tells most. */
  line: string;
  check: CheckFinished;
}

/** Enough to see the tests that failed and the summary of a long run. */
const KEPT_CHARS = 64_000;
/** As much of it as an agent needs. */
const TOLD_CHARS = 8000;

/** Runs the gate of a state. undefined: it was stopped before it could tell. */
export async function* runGate(
  state: PipelineState,
  context: PipelineContext,
  { iteration, stop, kill }: VerifyContext,
): AsyncGenerator<LoopEventBody, GateRun | undefined> {
  if (stop.aborted) return undefined;
  const { command, timeoutMs } = state;
  const log = join(context.folderFor(iteration), `gate-${state.name}.log`);
  yield { type: "check.started", iteration, command };
  const env = { ...context.env, ...context.gateEnv(state) };
  const result = await runCheck(
    { command, timeoutMs },
    { ...context, env, kill, log, keep: { chars: KEPT_CHARS, from: "end" } },
  );
  if (kill.aborted) return undefined;
  const why = whyNot(state, result);
  const passed = why === undefined && !result.timedOut && result.exitCode === state.exitCode;
  const output = ending(readable(result.output), TOLD_CHARS);
  const check = checkFinished({ iteration, command, log }, { ...result, passed }, output);
  yield check;
  return { passed, check, line: tellingLine({ ...result, passed, timeoutMs, why }) };
}

/** A gate that exits as it should has not passed for that alone. */
function whyNot(state: PipelineState, result: CheckResult): string | undefined {
  if (result.exitCode !== state.exitCode || result.timedOut) return undefined;
  if (foundNoTests(result.output)) return "no tests were found: nothing was proved";
  if (state.output === undefined || donePattern(state.output).test(readable(result.output))) return undefined;
  return `the output does not match ${state.output}`;
}
