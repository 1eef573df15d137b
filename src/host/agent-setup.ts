import { agentFor } from "../agents/index.js";
import type { AgentSetup } from "../ask/run-agent.js";
import { capture } from "../process/capture.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { iterationFolder } from "../state/runs.js";
import { fingerprint } from "../workspace/fingerprint.js";
import { repositoryRoot } from "../workspace/git.js";
import { gitFolders } from "../workspace/git-folders.js";
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
  const probe =
    agent.probe &&
    (await capture(sandbox?.hasOwnPrograms ? await sandbox.wrap({ command: probed }) : probed, {
      timeoutMs: PROBE_MS,
      stop: context.signals.stop,
    }));
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
    gitFolders: asksForCommits(spec) ? await gitFolders(workspace) : [],
    env,
    redact: context.redact,
    inactivityTimeoutMs: limits.inactivityTimeoutMs,
    iterationTimeoutMs: limits.iterationTimeoutMs,
    allowOverage: limits.allowOverage,
    fingerprint: async () => {
      await watchFilters();
      return fingerprint(workspace, "time");
    },
    kill: context.signals.kill,
    leavesNothing: spec.recipe.kind === "stories",
    folderFor: (iteration) => iterationFolder(context.folder, iteration),
  };
}

function asksForCommits({ recipe }: RunSpec): boolean {
  return recipe.kind === "stories" || recipe.kind === "pipeline";
}
