import type { LoopEventBody } from "../../events.js";
import type { Verdict, VerifyContext } from "../../loop/recipe.js";
import type { Failure } from "../../verify/failure.js";
import { commitLeftovers } from "./commit.js";
import { saveGutter } from "./gutter.js";
import type { GateRun } from "./run-gate.js";
import { COMPLETE, GUTTER, type PipelineContext, type PipelineSpec, type PipelineState } from "./spec.js";
import { asMemory, type Standing } from "./standing.js";
import { writeStateFile } from "./state-file.js";

/** A gate that has judged, and where the pipeline stands after it. */
export interface Judged {
  spec: PipelineSpec;
  context: PipelineContext;
  state: PipelineState;
  after: Standing;
  /** Whether somebody has worked on this state: what gates leave behind is not committed. */
  hasWork: boolean;
  verify: VerifyContext;
}

type Events = AsyncGenerator<LoopEventBody, Verdict>;

/** Commits the work of a state that has passed. Returns why that failed, as a hook of git may refuse it. */
export async function* commitWork({
  spec,
  context: { workspace, newPrograms },
  state,
  hasWork,
  verify: { iteration, kill },
}: Omit<Judged, "after">): AsyncGenerator<LoopEventBody, Failure | undefined> {
  const message = `${state.name}: gate passed`;
  const leftovers = { workspace, iteration, message, dirty: spec.dirty, kill, newPrograms };
  const committed = hasWork ? await commitLeftovers(leftovers) : undefined;
  if (committed === undefined) return undefined;
  yield committed;
  if (committed.passed) return undefined;
  return { command: "git commit", how: `exit code ${committed.exitCode}`, output: committed.message };
}

/** To the next state. */
export async function* moveOn({ context: { workspace }, state, after, verify }: Judged): Events {
  const { iteration } = verify;
  yield { type: "state.changed", iteration, from: state.name, to: state.onPass };
  writeStateFile(workspace, after);
  const isOver = state.onPass === COMPLETE;
  return {
    passed: true,
    reason: "gate passed",
    claimedDone: false,
    memory: asMemory(after),
    ...(isOver && { stop: "completed" as const }),
  };
}

/** Somebody has to look into it. */
export async function* giveUp({ context, state, after, verify }: Judged, gate: GateRun): Events {
  const saved = await saveGutter(context, state.name, gate);
  yield { type: "state.changed", iteration: verify.iteration, from: state.name, to: GUTTER, saved };
  writeStateFile(context.workspace, after);
  const reason = `max retries exhausted for state ${state.name}: ${gate.line}`;
  return { passed: false, reason, claimedDone: false, memory: asMemory(after), stop: "gutter" };
}
