import { MODEL_FLAGS, withoutFlag } from "../agents/flags.js";
import { isFallback } from "../loop/roles.js";
import { ESCALATED } from "../records/limited.js";
import { netAgents } from "../run/net-agents.js";
import { resolveAgents } from "../run/prepare.js";
import type { AgentSpec, RunSpec } from "../run/spec.js";
import type { SandboxKind } from "../sandbox/sandbox.js";
import type { LoadedSettings } from "../settings/load.js";
import { netFlags, type SafetyNetFlags } from "./flags.js";

/** The other agents of a run that goes on: those that are given now take the place of those of then. */
export async function resumedAgents(
  spec: RunSpec,
  flags: SafetyNetFlags,
  loaded: LoadedSettings,
  sandbox: SandboxKind,
): Promise<RunSpec["agents"]> {
  const { agents = {}, workspace, origin = workspace } = spec;
  const { fallbackAgents, escalateModel } = netFlags(flags);
  const kept = Object.entries(agents).filter(([role]) => fallbackAgents === undefined || !isFallback(role));
  const fallbacks = netAgents({ fallbackAgents }, { agentFlags: [] });
  const all = {
    ...Object.fromEntries(kept),
    ...(await resolveAgents({ agents: fallbacks, loaded, origin }, sandbox)),
    ...(escalateModel !== undefined && { [ESCALATED]: stronger(spec.agent, escalateModel) }),
  };
  return Object.keys(all).length === 0 ? undefined : all;
}

function stronger(agent: AgentSpec, model: string): AgentSpec {
  return {
    ...agent,
    model,
    flags: withoutFlag(agent.flags, MODEL_FLAGS),
    name: `${agent.name} (${model})`,
  };
}
