import { MODEL_FLAGS, withoutFlag } from "../agents/flags.js";
import type { AgentChoice } from "../host/agent-spec.js";
import { ESCALATED, fallbackRole } from "../loop/roles.js";
import { quoteWord, splitWords } from "../words.js";
import { type SafetyNetFlags, saysSomething } from "./flags.js";

/** The agents that take over when one is limited, down or stuck, by their roles. */
export function netAgents(
  { fallbackAgent = [], escalateModel }: Pick<SafetyNetFlags, "fallbackAgent" | "escalateModel">,
  own: AgentChoice,
): Record<string, AgentChoice> {
  const fallbacks = fallbackAgent.map((agent, index) => [
    fallbackRole(index),
    { agent: saysSomething("--fallback-agent", agent), agentFlags: [] },
  ]);
  return {
    ...Object.fromEntries(fallbacks),
    ...(escalateModel !== undefined && {
      [ESCALATED]: { ...withoutModel(own), model: saysSomething("--escalate-model", escalateModel) },
    }),
  };
}

/** A model among the agent's own flags would win. */
function withoutModel(own: AgentChoice): AgentChoice {
  const words = withoutFlag(own.agentFlags.flatMap(splitWords), MODEL_FLAGS);
  return { ...own, agentFlags: words.map(quoteWord) };
}
