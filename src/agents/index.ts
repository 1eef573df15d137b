import { basename } from "node:path";
import type { Agent } from "./agent.js";

/** Every known agent, loaded on first use, so that a start does not load them all. */
const AGENTS = {
  claude: async () => (await import("./claude.js")).claude,
  codex: async () => (await import("./codex.js")).codex,
  amp: async () => (await import("./amp.js")).amp,
  gemini: async () => (await import("./gemini.js")).gemini,
  opencode: async () => (await import("./opencode.js")).opencode,
} satisfies Record<string, () => Promise<Agent>>;

export type AgentName = keyof typeof AGENTS;

export const AGENT_NAMES = Object.keys(AGENTS) as AgentName[];

/** The agent of a program: a known one by its name, else a plain command. */
export async function agentFor(program: string): Promise<Agent> {
  const name = basename(program);
  if (isAgentName(name)) return AGENTS[name]();
  return (await import("./command.js")).command;
}

export function isAgentName(name: string): name is AgentName {
  return Object.hasOwn(AGENTS, name);
}

export async function allAgents(): Promise<Agent[]> {
  return Promise.all(Object.values(AGENTS).map((load) => load()));
}
