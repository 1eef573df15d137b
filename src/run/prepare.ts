import { resolve as resolvePath } from "node:path";
import type { Limits } from "../events.js";
import { writableHome } from "../records/home.js";
import { ESCALATED } from "../records/limited.js";
import { newRunId, type RunFolder } from "../records/runs.js";
import type { SandboxKind } from "../sandbox/sandbox.js";
import type { LoadedSettings } from "../settings/load.js";
import { headCommit } from "../workspace/git.js";
import { checkWorkspace } from "../workspace/ready.js";
import { type AgentChoice, resolveAgent } from "./agent-spec.js";
import { openPlace } from "./place.js";
import { checkSandbox, type SandboxChoice, sandboxFor } from "./sandbox.js";
import type { AgentSpec, RunSpec } from "./spec.js";

/** What somebody wants to be run. */
export interface Wanted {
  /** The project. */
  origin: string;
  loaded: LoadedSettings;
  recipe: RunSpec["recipe"];
  limits: Limits;
  stream: boolean;
  /** Which agent; a finished description for one that is no program. */
  agent: AgentChoice | AgentSpec;
  /** Others that the recipe asks, by their roles. */
  agents?: Record<string, AgentChoice> | undefined;
  worktree: string | boolean;
  /** Whether the checks are run before the first iteration. */
  baseline?: boolean | undefined;
  /** What agents and checks leave running is left alone. */
  keepBackground?: boolean | undefined;
  /** What the agents are to be shut into. */
  sandbox?: SandboxChoice | undefined;
  /** What the run is about, for the name of its worktree. */
  title: string;
  config?: string | undefined;
  home?: string | undefined;
  /** Aborted: a worktree that is not ready yet is taken away again. */
  signal?: AbortSignal | undefined;
  /** Told what takes long. */
  tell?: ((text: string) => void) | undefined;
}

interface PreparedRun {
  spec: RunSpec;
  warning?: string;
  /** Why there is no sandbox, where one was looked for. */
  unsheltered?: string;
}

export type Prepared = PreparedRun | { resume: RunFolder };

/** Everything that can be wrong is found here, before anything is started. */
export async function prepareRun(wanted: Wanted): Promise<Prepared> {
  const { origin, loaded, recipe, limits, stream, config, home } = wanted;
  const sandbox = await sandboxFor(choiceOf(wanted), loaded.settings, origin);
  const agent =
    "words" in wanted.agent
      ? wanted.agent
      : await resolveAgent(wanted.agent, loaded.settings, origin, process.env, sandbox.kind);
  const agents = await resolveAgents(wanted, sandbox.kind);
  checkWorkspace(origin);
  await checkSandbox({ agent, agents, sandbox: sandbox.spec, workspace: origin }, process.env);
  writableHome(home);
  const now = new Date();
  const id = newRunId(now);
  const { setup, checks, protect, agent: agentSettings } = loaded.settings;
  const opened = await openPlace(origin, { ...wanted, id, setup, home });
  if ("resume" in opened) return opened;
  const { warning, ...place } = opened;
  const base = await headCommit(place.workspace);
  const spec: RunSpec = {
    v: 1,
    id,
    createdAt: now.toISOString(),
    ...place,
    base,
    recipe,
    agent: place.worktree === undefined ? agent : startedFrom(origin, agent),
    ...(Object.keys(agents).length > 0 && {
      agents: place.worktree === undefined ? agents : allStartedFrom(origin, agents),
    }),
    limits,
    ...(wanted.baseline && { baseline: true }),
    ...((wanted.keepBackground ?? agentSettings?.background === "keep") && { keepBackground: true }),
    ...(checks !== undefined && { checks }),
    ...(protect !== undefined && protect.length > 0 && { protect }),
    sandbox: sandbox.spec,
    stream,
    config,
  };
  return {
    spec,
    ...(warning !== undefined && { warning }),
    ...(sandbox.why !== undefined && { unsheltered: sandbox.why }),
  };
}

/** A function of a program runs in that program: it cannot be shut in. */
function choiceOf({ sandbox, loaded, agent }: Wanted): SandboxChoice {
  return "words" in agent ? "none" : (sandbox ?? loaded.settings.sandbox?.kind ?? "none");
}

/** The same agent with another model is called by both. */
export async function resolveAgents(
  { agents = {}, loaded, origin }: Pick<Wanted, "agents" | "loaded" | "origin">,
  sandbox: SandboxKind,
): Promise<Record<string, AgentSpec>> {
  const found: Record<string, AgentSpec> = {};
  for (const [role, choice] of Object.entries(agents)) {
    const spec = await resolveAgent(choice, loaded.settings, origin, process.env, sandbox);
    found[role] = role === ESCALATED ? { ...spec, name: `${spec.name} (${spec.model})` } : spec;
  }
  return found;
}

function allStartedFrom(origin: string, agents: Record<string, AgentSpec>): Record<string, AgentSpec> {
  return Object.fromEntries(
    Object.entries(agents).map(([role, agent]) => [role, startedFrom(origin, agent)]),
  );
}

/** A program that is named by its path is the one of the checkout. */
function startedFrom(origin: string, agent: AgentSpec): AgentSpec {
  const [file = "", ...words] = agent.words;
  return file.includes("/") ? { ...agent, words: [resolvePath(origin, file), ...words] } : agent;
}
