import { homedir } from "node:os";
import { agentFor } from "../agents/index.js";
import { ralphHome } from "../records/home.js";
import { OWN_AGENT } from "../records/limited.js";
import { type ChosenSandbox, chooseSandbox, type SandboxChoice, sandboxOf } from "../sandbox/choose.js";
import { hostsFor } from "../sandbox/hosts.js";
import type { Sandbox, SandboxScope, SandboxSpec } from "../sandbox/sandbox.js";
import type { Settings } from "../settings/schema.js";
import type { RunContext } from "./context.js";
import type { RunSpec } from "./spec.js";

/** Files take two to three seconds to get out of a virtual machine. */
const SETTLE_SECONDS = 2.5;

/** What a run is shut into. Where it cannot be had, nothing is started. */
export async function sandboxFor(
  choice: SandboxChoice,
  { sandbox: settings = {} }: Settings,
  workspace: string,
): Promise<ChosenSandbox & { spec: SandboxSpec }> {
  const chosen = await chooseSandbox(choice, process.env, workspace);
  const { network, filesystem, checks = false, settle = SETTLE_SECONDS } = settings;
  return {
    ...chosen,
    spec: {
      kind: chosen.kind,
      ...(chosen.program && { program: chosen.program }),
      allowHosts: network?.allow ?? [],
      allowWrite: filesystem?.allowWrite ?? [],
      denyRead: filesystem?.denyRead ?? [],
      denyWrite: filesystem?.denyWrite ?? [],
      checks,
      settleMs: settle * 1000,
    },
  };
}

/** Shows an agent that it is shut in: as root, some work nowhere else. */
export const SHUT_IN = { IS_SANDBOX: "1" };

/** `srt (it writes in this folder …)`, for the first line of a run. */
export async function sandboxInForce(
  spec: RunSpec,
  env: NodeJS.ProcessEnv,
  why: string | undefined,
): Promise<string> {
  const { sandbox } = spec;
  if (sandbox === undefined) return "none";
  const agents = await agentsOf(spec);
  const hosts = hostsFor(agents, env, sandbox.allowHosts);
  const allows = (await sandboxOf(sandbox.kind)).allows(sandbox, hosts, agents);
  const checks = sandbox.checks && sandbox.kind !== "none" ? "; checks run inside, too" : "";
  const reason = why === undefined ? "" : `; ${why}`;
  return `${sandbox.kind} (${allows}${checks}${reason})`;
}

/** Throws where the settings ask for what the sandbox cannot hold. */
export async function checkSandbox(wanted: ShutIn, env: NodeJS.ProcessEnv): Promise<void> {
  const { sandbox } = wanted;
  if (sandbox === undefined) return;
  const kind = await sandboxOf(sandbox.kind);
  await kind.check?.(sandbox, await scopeOf(wanted, env, new AbortController().signal));
}

/** undefined: the agent is not shut in. */
export async function openSandbox(context: RunContext): Promise<Sandbox | undefined> {
  const { spec, agent, host, variables } = context;
  const { sandbox } = spec;
  if (sandbox === undefined || sandbox.kind === "none" || agent !== undefined) return undefined;
  const kind = await sandboxOf(sandbox.kind);
  const env = { ...context.env, ...variables[OWN_AGENT] };
  return kind.open(sandbox, await scopeOf(spec, env, host.signals.stop));
}

type ShutIn = Pick<RunSpec, "agent" | "agents" | "sandbox" | "workspace">;

async function scopeOf(shutIn: ShutIn, env: NodeJS.ProcessEnv, stop: AbortSignal): Promise<SandboxScope> {
  const { workspace } = shutIn;
  return { workspace, home: homedir(), ralphHome: ralphHome(), env, agents: await agentsOf(shutIn), stop };
}

function agentsOf({ agent, agents = {} }: Pick<RunSpec, "agent" | "agents">) {
  return Promise.all([agent, ...Object.values(agents)].map(({ words }) => agentFor(words[0] ?? "")));
}
