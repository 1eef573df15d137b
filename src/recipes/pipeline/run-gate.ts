import { join } from "node:path";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import { checkFinished, runCheck } from "../../verify/checks.js";
import { ending, readable } from "../../verify/excerpt.js";
import { foundNoTests, ranTests } from "../../verify/no-tests.js";
import { donePattern } from "../../verify/pattern.js";
import type { VerifyContext } from "../recipe.js";
import type { PipelineContext, PipelineSpec } from "./pipeline.js";
import type { PipelineState } from "./pipeline-state.js";
import { tellingLine } from "./telling.js";
import { whatWasWeakened } from "./weakened.js";

export interface Gate {
  spec: PipelineSpec;
  state: PipelineState;
  /** What it said when it last failed in this state. */
  before: string | undefined;
}

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
  { spec, state, before }: Gate,
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
  const isAsItShould = result.exitCode === state.exitCode && !result.timedOut;
  const why = isAsItShould ? await whyNot({ spec, state, before }, context, result.output) : undefined;
  const passed = isAsItShould && why === undefined;
  const output = ending(readable(why === undefined ? result.output : `${result.output}\n${why}`), TOLD_CHARS);
  const check = checkFinished({ iteration, command, log }, { ...result, passed }, output);
  yield check;
  return { passed, check, line: tellingLine({ ...result, passed, timeoutMs, why }) };
}

/** A gate that exits as it should has not passed for that alone. */
async function whyNot(
  { spec, state, before = "" }: Gate,
  { workspace }: PipelineContext,
  output: string,
): Promise<string | undefined> {
  if (foundNoTests(output)) return "no tests were found: nothing was proved";
  if (ranTests(before) && !ranTests(output))
    return "it ran tests before, and runs none now: nothing was proved";
  if (state.output !== undefined && !donePattern(state.output).test(readable(output)))
    return `the output does not match ${state.output}`;
  return whatWasWeakened(spec, workspace, state);
}
