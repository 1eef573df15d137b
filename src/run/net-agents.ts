import { MODEL_FLAGS, withoutFlag } from "../agents/flags.js";
import { fallbackRole } from "../loop/roles.js";
import { ESCALATED } from "../records/limited.js";
import { loopSection } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { quoteWord, splitWords } from "../words.js";
import type { AgentChoice } from "./agent-spec.js";

interface Nets {
  fallbackAgents?: string[] | undefined;
  escalateModel?: string | undefined;
}

/** What is given, else what the settings say; their model is for the agent that they name, and for no other. */
export function netsFor({ agent, ...given }: Nets & Pick<AgentChoice, "agent">, settings: Settings): Nets {
  const { fallback_agents, escalate_model } = loopSection(settings);
  return {
    fallbackAgents: given.fallbackAgents ?? fallback_agents,
    escalateModel: given.escalateModel ?? (agent === undefined ? escalate_model : undefined),
  };
}

/** The agents that take over when one is limited, down or stuck, by their roles. */
export function netAgents(
  { fallbackAgents = [], escalateModel }: Nets,
  own: AgentChoice,
): Record<string, AgentChoice> {
  const fallbacks = fallbackAgents.map((agent, index) => [fallbackRole(index), { agent, agentFlags: [] }]);
  return {
    ...Object.fromEntries(fallbacks),
    ...(escalateModel !== undefined && { [ESCALATED]: { ...withoutModel(own), model: escalateModel } }),
  };
}

/** A model among the agent's own flags would win. */
function withoutModel(own: AgentChoice): AgentChoice {
  const words = withoutFlag(own.agentFlags.flatMap(splitWords), MODEL_FLAGS);
  return { ...own, agentFlags: words.map(quoteWord) };
}
