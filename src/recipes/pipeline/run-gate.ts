import { join } from "node:path";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import { checkFinished, runCheck } from "../../verify/checks.js";
import { ending, readable } from "../../verify/excerpt.js";
import { foundNoTests, isTestRun, passedTests } from "../../verify/no-tests.js";
import { donePattern } from "../../verify/pattern.js";
import type { VerifyContext } from "../recipe.js";
import type { PipelineContext, PipelineSpec } from "./pipeline.js";
import type { PipelineState } from "./pipeline-state.js";
import { type Sealed, whatWasChanged } from "./sealed.js";
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

/** Runs the gate of a state. undefined: it was stopped before it could tell. */
export async function* runGate(
  gate: Gate,
  context: PipelineContext,
  { iteration, stop, kill }: VerifyContext,
): AsyncGenerator<LoopEventBody, GateRun | undefined> {
  if (stop.aborted) return undefined;
  const { state } = gate;
  const { command, timeoutMs } = state;
  const log = join(context.folderFor(iteration), `gate-${state.name}.log`);
  yield { type: "check.started", iteration, command };
  const env = { ...context.env, ...context.gateEnv(state) };
  const result = await runCheck(
    { command, timeoutMs },
    { ...context, env, kill, log, keep: { chars: KEPT_CHARS, from: "end" } },
  );
  if (kill.aborted) return undefined;
  const isAsItShould = result.exitCode === state.exitCode && !result.timedOut && result.why === undefined;
  const why = isAsItShould ? await whyNot(gate, context, result.output) : undefined;
  const passed = isAsItShould && why === undefined;
  const output = ending(readable(why === undefined ? result.output : `${result.output}\n${why}`), TOLD_CHARS);
  const check = checkFinished({ iteration, command, log }, { ...result, passed }, output);
  yield check;
  return {
    passed,
    check,
    hasTests: isTestRun(result.output),
    line: tellingLine({ ...result, passed, timeoutMs, why, tellsNoCount: state.unknownRunner === true }),
  };
}

/** A gate that exits as it should has not passed for that alone. */
async function whyNot(
  { spec, state, hasTests: hadTests, sealed }: Gate,
  { workspace }: Pick<PipelineContext, "workspace">,
  output: string,
): Promise<string | undefined> {
  if (foundNoTests(output)) return "no tests were found: nothing was proved";
  if (hadTests && !passedTests(output)) return "it ran tests before, and none passes now: nothing was proved";
  if (needsProof(state) && !passedTests(output))
    return "its output shows no test that passed: nothing was proved (passCondition can name another proof)";
  if (state.output !== undefined && !donePattern(state.output).test(readable(output)))
    return `the output does not match ${state.output}`;
  return whatWasChanged(spec, workspace, sealed) ?? whatWasWeakened(spec, workspace, state);
}

function needsProof({ runsTests, output, unknownRunner }: PipelineState): boolean {
  return runsTests === true && output === undefined && unknownRunner !== true;
}
