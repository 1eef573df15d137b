import { realpathSync } from "node:fs";
import { agentFor } from "../agents/index.js";
import type { AgentSetup } from "../ask/run-agent.js";
import { type Captured, capture } from "../process/capture.js";
import type { Command } from "../process/run.js";
import { which } from "../process/which.js";
import { recipeRow } from "../recipes/registry.js";
import { iterationFolder } from "../records/runs.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { fingerprint } from "../workspace/fingerprint.js";
import { gitFolders, repositoryRoot } from "../workspace/git.js";
import { filterWatch } from "./git-trust.js";
import type { RunContext } from "./run-context.js";
import { SHUT_IN } from "./sandbox.js";
import type { AgentSpec, RunSpec } from "./spec.js";

const PROBE_MS = 15_000;

/** All that a call of an agent needs and that stays the same from call to call. */
export async function agentSetup(
  spec: RunSpec,
  asked: AgentSpec,
  context: RunContext,
  sandbox: Sandbox | undefined,
): Promise<AgentSetup> {
  const { workspace, limits } = spec;
  const file = asked.words[0] ?? "";
  const agent = await agentFor(file);
  const env = { ...context.env, ...context.agentEnv, ...(sandbox && SHUT_IN) };
  const probed = { file, args: agent.probe ?? [], cwd: workspace, env };
  const probe = agent.probe && (await probedIn(placeFor(probed, sandbox), probed, context));
  const watchFilters = await filterWatch(spec, context);
  return {
    agent,
    ...asked,
    model: asked.model,
    // A sandbox of its own in this one works nowhere.
    permissions: sandbox !== undefined && asked.permissions === "unattended" ? "all" : asked.permissions,
    sandbox,
    help: probe === undefined ? "" : probe.stdout + probe.stderr,
    mode: spec.stream ? "stream" : "text",
    workspace,
    inRepository: repositoryRoot(workspace) !== undefined,
    gitFolders:
      (await recipeRow(spec.recipe)).commits?.(spec.recipe) === "agents" ? gitFolders(workspace) : [],
    env,
    redact: context.redact,
    inactivityTimeoutMs: limits.inactivityTimeoutMs,
    iterationTimeoutMs: limits.iterationTimeoutMs,
    allowOverage: limits.allowOverage,
    fingerprint: async () => {
      await watchFilters();
      return fingerprint(workspace);
    },
    kill: context.signals.kill,
    keepBackground: spec.keepBackground,
    folderFor: (iteration) => iterationFolder(context.folder, iteration),
  };
}

/** An agent that lies in the project may have been changed by an earlier one. */
function placeFor({ file, cwd, env }: Command, sandbox: Sandbox | undefined): Sandbox | undefined {
  const found = which(file, cwd, env["PATH"]);
  const isOfProject =
    found.status === "found" &&
    [found.path, realpathSync(found.path)].some((path) => path.startsWith(`${cwd}/`));
  return sandbox?.hasOwnPrograms || isOfProject ? sandbox : undefined;
}

async function probedIn(
  sandbox: Sandbox | undefined,
  command: Command,
  { signals }: RunContext,
): Promise<Captured> {
  const wrapped = await sandbox?.wrap({ command });
  const said = await capture(wrapped ?? command, { timeoutMs: PROBE_MS, stop: signals.stop });
  if (sandbox?.hasOwnPrograms === false) await sandbox.ended(said);
  return said;
}
