import { existsSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../errors.js";
import type { GateFinished, LoopEventBody } from "../../events.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "../../loop/recipe.js";
import { oneLine } from "../../verify/excerpt.js";
import { type Failure, failureOf, likeness, likenessOf } from "../../verify/failure.js";
import { takeBefore, writeBefore } from "./gates/before.js";
import { gatesBefore } from "./gates-before.js";
import { instructionFor } from "./instruction.js";
import { commitWork, giveUp, type Judged, moveOn } from "./moves.js";
import { statePrompt } from "./prompt.js";
import { type Gate, type GateRun, runGate } from "./run-gate.js";
import { firstSealed, sealedAfter, sealedByHand } from "./sealed.js";
import { BEFORE_FILE, type PipelineContext, type PipelineSpec, type PipelineState } from "./spec.js";
import {
  asMemory,
  failed,
  firstStanding,
  heldUp,
  passed,
  resumed,
  type Standing,
  standingIn,
} from "./standing.js";
import { writeStateFile } from "./state-file.js";
import { testsOf } from "./weakened.js";

/** Goes from state to state: the gate of each has to pass before the next one begins. */
export function pipelineRecipe(spec: PipelineSpec, context: PipelineContext): Recipe {
  const max = spec.maxGateRetries;
  let standing: Standing | undefined;

  return {
    name: "pipeline",
    verifies: true,

    async plan({ memory }: PlanContext) {
      const now = new Date();
      const known = standingIn(memory);
      if (known === undefined) rememberBefore(spec, context);
      standing = begun(spec, context.workspace, known, now);
      const state = stateOf(spec, standing);
      writeStateFile(context.workspace, standing);
      return {
        prompt: needsAgent(state, standing) ? promptFor(spec, context, state, standing) : null,
        mode: state.name,
        retries: { count: standing.retries, max },
        checks: [state.command],
      };
    },

    baseline(before: VerifyContext) {
      rememberBefore(spec, context);
      return gatesBefore(spec, context, before);
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      if (standing === undefined) throw new Error("an iteration is verified that was not planned");
      const state = stateOf(spec, standing);
      if (answer.error !== null) {
        const sealed = sealedAfter(spec, context.workspace, state, standing.sealed, false);
        return agentFailed({ ...standing, sealed }, answer.error);
      }
      const gate = yield* runGate({ spec, state, ...provedBy(standing, state) }, context, verify);
      if (gate === undefined) return undefined;
      const now = new Date();
      const known = withTested(standing, state, gate);
      const failure = failureOf(gate.check, state.timeoutMs);
      const tries = { max, hasTried: hasTried(state, standing) };
      const failedNow = answer.asked ? heldUp(known, failure) : failed(known, failure, tries, now);
      const judgedNow = gate.passed ? passed(known, state, now) : failedNow;
      const after = {
        ...judgedNow,
        sealed: sealedAfter(spec, context.workspace, state, known.sealed, gate.passed),
      };
      yield gateFinished(gate, standing, after, { max, iteration: verify.iteration });
      const hasWork = needsAgent(state, standing) || standing.isMended;
      const judged = { spec, context, state, after, hasWork, verify };
      return gate.passed ? yield* committed(judged, gate, known) : yield* notPassed(judged, gate);
    },
  };
}

/** To the next state, with the work of this one committed. */
async function* committed(
  judged: Judged,
  gate: GateRun,
  before: Standing,
): AsyncGenerator<LoopEventBody, Verdict | undefined> {
  const refused = yield* commitWork(judged);
  if (refused === undefined) return yield* moveOn(judged);
  if (judged.verify.kill.aborted) return undefined;
  return yield* notPassed(...withRefusal(judged, gate, before, refused));
}

async function* notPassed(judged: Judged, gate: GateRun): AsyncGenerator<LoopEventBody, Verdict> {
  const { context, state, after } = judged;
  if (after.inGutter) return yield* giveUp(judged, gate);
  writeStateFile(context.workspace, after);
  return gateFailed(state, gate, after);
}

/** Work that cannot be committed has not passed, and the agent is told why. */
function withRefusal(judged: Judged, gate: GateRun, before: Standing, refused: Failure): [Judged, GateRun] {
  const { sealed } = before;
  const tries = { max: judged.spec.maxGateRetries, hasTried: hasTried(judged.state, before) };
  const after = { ...failed(before, refused, tries, new Date()), sealed };
  const said = oneLine(refused.output, REFUSAL_CHARS);
  const line = `❌ the work could not be committed: ${said}`;
  return [
    { ...judged, after },
    { ...gate, passed: false, line, check: { ...gate.check, output: refused.output } },
  ];
}

const REFUSAL_CHARS = 200;

function begun(spec: PipelineSpec, workspace: string, before: Standing | undefined, now: Date): Standing {
  if (before === undefined)
    return { ...firstStanding(spec.states, now), sealed: firstSealed(spec, workspace) };
  if (!before.inGutter) return before;
  return { ...resumed(before, now), sealed: sealedByHand(spec, workspace, before.sealed) };
}

function provedBy(
  { tested, sealed }: Standing,
  { command }: PipelineState,
): Pick<Gate, "hasTests" | "sealed"> {
  return { hasTests: tested.includes(command), sealed };
}

function withTested(standing: Standing, { command }: PipelineState, { hasTests }: GateRun): Standing {
  const { tested } = standing;
  return hasTests && !tested.includes(command) ? { ...standing, tested: [...tested, command] } : standing;
}

/** An agent that failed has not made its try: the loop waits and asks the next one. */
function agentFailed(standing: Standing, error: string): Verdict {
  return { passed: false, reason: error, claimedDone: false, memory: asMemory({ ...standing, error }) };
}

async function gateFailed(
  { name }: PipelineState,
  { line, check }: GateRun,
  after: Standing,
): Promise<Verdict> {
  return {
    passed: false,
    reason: `gate failed: ${line.replace(/^❌ /, "")}`,
    claimedDone: false,
    failure: await likeness([name, line, likenessOf(check)]),
    memory: asMemory(after),
  };
}

/** After the gutter somebody has mended it by hand: the gate looks first. */
function needsAgent({ agent }: PipelineState, { retries, isMended }: Standing): boolean {
  if (agent === "never") return false;
  return retries > 0 || (agent === "before" && !isMended);
}

/** Where no agent works, looking is the try. */
function hasTried(state: PipelineState, standing: Standing): boolean {
  return state.agent === "never" || needsAgent(state, standing);
}

/** Before the first agent works. A run that is resumed has it already. */
function rememberBefore({ states, prpFile }: PipelineSpec, { workspace, records }: PipelineContext): void {
  const path = join(records, BEFORE_FILE);
  if (!existsSync(path)) writeBefore(path, takeBefore(workspace, prpFile, states.map(testsOf)));
}

function stateOf({ states }: PipelineSpec, { state }: Standing): PipelineState {
  const found = states.find(({ name }) => name === state);
  if (found !== undefined) return found;
  throw new RalphError(`the pipeline has no state ${state}`, { code: "pipeline_state_unknown" });
}

function gateFinished(
  { passed: isPassed, line }: GateRun,
  before: Standing,
  after: Standing,
  { max, iteration }: { max: number; iteration: number },
): GateFinished {
  return {
    type: "gate.finished",
    iteration,
    state: before.state,
    passed: isPassed,
    output: line,
    retries: isPassed ? before.retries : after.retries,
    maxRetries: max,
  };
}

function promptFor(
  spec: PipelineSpec,
  { workspace }: PipelineContext,
  state: PipelineState,
  standing: Standing,
): string {
  const instruction = instructionFor(spec, workspace, state, standing);
  const { specFile, maxGateRetries: maxRetries } = spec;
  const hasPrp = spec.states.some(({ command, goal }) => `${command} ${goal}`.includes(spec.prpFile));
  const prpFile = hasPrp ? spec.prpFile : undefined;
  return statePrompt({ specFile, prpFile, state, standing, maxRetries, instruction });
}
