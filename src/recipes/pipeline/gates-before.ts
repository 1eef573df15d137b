import type { CheckFinished, LoopEventBody } from "../../events.js";
import type { VerifyContext } from "../../loop/recipe.js";
import { runGate } from "./run-gate.js";
import { NOT_SEALED } from "./sealed.js";
import type { PipelineContext, PipelineSpec, PipelineState } from "./spec.js";

/** Runs every gate that only looks once before the first state begins. undefined: it was stopped before all of them could tell. */
export async function* gatesBefore(
  spec: PipelineSpec,
  context: PipelineContext,
  before: VerifyContext,
): AsyncGenerator<LoopEventBody, CheckFinished[] | undefined> {
  const results: CheckFinished[] = [];
  for (const state of lastOfEachCommand(spec.states.filter(onlyLooks))) {
    const gate = yield* runGate({ spec, state, hasTests: false, sealed: NOT_SEALED }, context, before);
    if (gate === undefined) return undefined;
    results.push(gate.check);
  }
  return results;
}

/** What no agent can mend is often a step that does something, such as a deploy; ralph's own gates do nothing. */
function onlyLooks({ agent, command }: PipelineState): boolean {
  return agent !== "never" || /^\s*ralph gate [^;&|<>()$`\n]*$/.test(command);
}

/** Where several states run the same command, the condition of the last one has to hold in the end. */
function lastOfEachCommand(states: PipelineState[]): PipelineState[] {
  return [...new Map(states.map((state) => [state.command, state])).values()];
}
