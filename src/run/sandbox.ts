import { homedir } from "node:os";
import { delimiter, isAbsolute, resolve } from "node:path";
import { agentFor } from "../agents/index.js";
import { ralphHome } from "../records/home.js";
import { OWN_AGENT } from "../records/limited.js";
import { type ChosenSandbox, chooseSandbox, type SandboxChoice, sandboxOf } from "../sandbox/choose.js";
import { hostsFor, type Sandbox, type SandboxScope, type SandboxSpec } from "../sandbox/sandbox.js";
import type { Settings } from "../settings/schema.js";
import { gitFolders } from "../workspace/git.js";
import { agentEnvironment } from "./agent-spec.js";
import { hiddenFiles } from "./hidden.js";
import type { PreparedRun, RunContext, RunSpec } from "./spec.js";

/** Files take two to three seconds to leave a virtual machine. */
const SETTLE_SECONDS = 2.5;

/** The sandbox of a run. Nothing starts if it is not available. */
export async function sandboxFor(
  choice: SandboxChoice,
  { sandbox: settings = {} }: Settings,
  workspace: string,
): Promise<ChosenSandbox & { spec: SandboxSpec }> {
  const chosen = await chooseSandbox(choice, process.env, workspace);
  const { kind, program } = chosen;
  const { network, filesystem, checks = false, settle = SETTLE_SECONDS } = settings;
  const { allowWrite = [], denyRead = [], denyWrite = [] } = filesystem ?? {};
  const rules = { allowHosts: network?.allow ?? [], allowWrite, denyRead, denyWrite, checks };
  return { ...chosen, spec: { kind, ...(program && { program }), ...rules, settleMs: settle * 1000 } };
}

/** `srt (it writes in this folder …)`, for the first line of a run. */
export async function sandboxInForce({ spec, variables, unsheltered }: PreparedRun): Promise<string> {
  const { sandbox } = spec;
  if (sandbox === undefined) return "none";
  const { agents, env } = await scopeOf(spec, { ...process.env, ...variables[OWN_AGENT] });
  const allows = (await sandboxOf(sandbox.kind)).allows(
    sandbox,
    hostsFor(agents, env, sandbox.allowHosts),
    agents,
  );
  const checks = sandbox.checks && sandbox.kind !== "none" ? "; checks run inside, too" : "";
  const reason = unsheltered === undefined ? "" : `; ${unsheltered}`;
  return `${sandbox.kind} (${allows}${checks}${reason})`;
}

type ShutIn = Pick<RunSpec, "agent" | "agents" | "sandbox" | "workspace">;

/** Throws if the settings ask for more than the sandbox can enforce. */
export async function checkSandbox(wanted: ShutIn, settings: Settings): Promise<void> {
  const { sandbox, agent } = wanted;
  if (sandbox === undefined) return;
  const env = { ...process.env, ...agentEnvironment(agent, settings) };
  await (await sandboxOf(sandbox.kind)).check?.(sandbox, await scopeOf(wanted, env));
}

/** undefined: no sandbox. */
export async function openSandbox({
  spec,
  agent,
  host,
  ...context
}: RunContext): Promise<Sandbox | undefined> {
  const { sandbox } = spec;
  if (sandbox === undefined || sandbox.kind === "none" || agent !== undefined) return undefined;
  const env = { ...context.env, ...context.variables[OWN_AGENT] };
  // Checks that run inside must be able to read their own files.
  const scope = await scopeOf(spec, env, host.signals.stop);
  const words = [spec.agent, ...Object.values(spec.agents ?? {})].flatMap((one) => one.words);
  const programs = [...(env["PATH"] ?? "").split(delimiter), ...words].filter(isAbsolute);
  const written = sandbox.allowWrite.map((path) => resolve(spec.workspace, path));
  const needed = [...programs, ...written, ...gitFolders(spec.workspace), spec.origin ?? spec.workspace];
  // Checks that run inside must be able to read their own files.
  const files = sandbox.checks ? [] : await hiddenFiles(context.hidden ?? [], spec, { ...scope, needed });
  const narrower = { ...sandbox, denyRead: [...sandbox.denyRead, ...files] };
  return (await sandboxOf(sandbox.kind)).open(narrower, scope);
}

/** The same for checks only, in another folder; undefined: they run without a sandbox. */
export async function sandboxForChecks(
  spec: RunSpec,
  workspace: string,
  env: NodeJS.ProcessEnv,
  stop: AbortSignal,
): Promise<Sandbox | undefined> {
  const { sandbox } = spec;
  if (!sandbox?.checks || sandbox.kind === "none") return undefined;
  return (await sandboxOf(sandbox.kind)).open(sandbox, await scopeOf({ ...spec, workspace }, env, stop));
}

async function scopeOf(
  { workspace, agent, agents = {} }: ShutIn,
  env: NodeJS.ProcessEnv,
  stop = new AbortController().signal,
): Promise<SandboxScope> {
  const all = [agent, ...Object.values(agents)].map(({ words }) => agentFor(words[0] ?? ""));
  return { workspace, home: homedir(), ralphHome: ralphHome(), env, agents: await Promise.all(all), stop };
}
