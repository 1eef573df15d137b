import { resolve as resolvePath } from "node:path";
import { agentFor } from "../agents/index.js";
import { nearest } from "../nearest.js";
import { recipeRow } from "../recipes/registry.js";
import { writableHome } from "../records/home.js";
import { ESCALATED } from "../records/limited.js";
import { newRunId, type RunFolder } from "../records/runs.js";
import type { SandboxKind } from "../sandbox/sandbox.js";
import type { LoadedSettings } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { brief } from "../views/harmless.js";
import { headCommit } from "../workspace/git.js";
import { checkWorkspace } from "../workspace/runtime.js";
import {
  type AgentChoice,
  escalated,
  mapValues,
  netAgents,
  netsFor,
  resolveAgent,
  variablesOf,
} from "./agent-spec.js";
import type { PreparedRun, RunRequest } from "./context.js";
import { checkIterations } from "./flags.js";
import { checkSandbox, sandboxFor } from "./sandbox.js";
import type { AgentSpec, RunSpec } from "./spec.js";
import { openTarget, type TargetOptions } from "./target.js";

/** Where a run is prepared: `signal` takes away a worktree that is not ready yet, `tell` says what takes long. */
type Preparing = Partial<Pick<TargetOptions, "signal" | "tell" | "home">>;

/** Everything that can be wrong is found here, before anything is started. */
export async function prepareRun(
  request: RunRequest,
  loaded: LoadedSettings,
  preparing: Preparing = {},
): Promise<PreparedRun | { resume: RunFolder }> {
  const { origin, recipe, limits, stream, config, title, worktree } = request;
  const { settings } = loaded;
  checkIterations(limits, (await recipeRow(recipe)).mostIterations);
  // A function of a program runs in that program: it cannot be shut in.
  const choice = "words" in request.agent ? "none" : (request.sandbox ?? settings.sandbox?.kind ?? "none");
  const sandbox = await sandboxFor(choice, settings, origin);
  const { agent, agents } = await resolveAgents(request, settings, sandbox.kind);
  checkWorkspace(origin);
  await checkSandbox({ agent, agents, sandbox: sandbox.spec, workspace: origin }, process.env);
  writableHome(preparing.home);
  const now = new Date();
  const id = newRunId(now);
  const { setup, checks, protect } = settings;
  const opened = await openTarget(origin, { ...preparing, worktree, title, id, setup });
  if ("resume" in opened) return opened;
  const { warning, ...target } = opened;
  const startedFrom = target.worktree === undefined ? (one: AgentSpec) => one : fromCheckout(origin);
  const spec: RunSpec = {
    v: 1,
    id,
    createdAt: now.toISOString(),
    ...target,
    base: await headCommit(target.workspace),
    recipe,
    agent: startedFrom(agent),
    ...(Object.keys(agents).length > 0 && { agents: mapValues(agents, startedFrom) }),
    limits,
    ...(request.baseline && { baseline: true }),
    ...((request.keepBackground ?? settings.agent?.background === "keep") && { keepBackground: true }),
    ...(checks !== undefined && { checks }),
    ...(protect !== undefined && protect.length > 0 && { protect }),
    sandbox: sandbox.spec,
    stream,
    config,
    promptVia: request.promptVia,
    worker: request.worker,
    ...(request.sharesWorkspace && { sharedBy: id }),
  };
  return {
    spec,
    settings,
    variables: variablesOf(spec, settings),
    warnings: [...(warning === undefined ? [] : [warning]), ...(await warningsOf(spec))],
    unsheltered: sandbox.why,
  };
}

/** The run's own agent and the others, by their roles; a function has nobody in its place. */
async function resolveAgents(
  { origin, recipe, agent, agents, nets = {} }: RunRequest,
  settings: Settings,
  sandbox: SandboxKind,
): Promise<{ agent: AgentSpec; agents: Record<string, AgentSpec> }> {
  if ("words" in agent) return { agent, agents: {} };
  const { ignoresNetSettings } = await recipeRow(recipe);
  const chosen = ignoresNetSettings ? nets : netsFor(nets, settings);
  const resolve = (one: AgentChoice): Promise<AgentSpec> =>
    resolveAgent(one, settings, origin, process.env, sandbox);
  const own = await resolve(agent);
  const others: Record<string, AgentSpec> = {};
  for (const [role, one] of Object.entries({ ...agents, ...netAgents(chosen, agent) }))
    others[role] = role === ESCALATED ? escalated(await resolve(one)) : await resolve(one);
  return { agent: own, agents: others };
}

/** A program that is named by its path is the one of the checkout. */
function fromCheckout(origin: string): (agent: AgentSpec) => AgentSpec {
  return (agent) => {
    const [file = "", ...words] = agent.words;
    return file.includes("/") ? { ...agent, words: [resolvePath(origin, file), ...words] } : agent;
  };
}

/** What a spec asks for that will have no effect. */
async function warningsOf(spec: RunSpec): Promise<string[]> {
  return [...(await blindLimits(spec)), ...(await emptyPatterns(spec)), ...(await unknownInputs(spec))];
}

/** A limit that nothing can measure is worse than none, because it is trusted. */
async function blindLimits({ agent, agents = {}, limits, stream }: RunSpec): Promise<string[]> {
  const limited = { cost: limits.maxCostUsd !== null, tokens: limits.maxTokens !== null };
  const warnings = new Set<string>();
  for (const { name, words, isFunction } of [agent, ...Object.values(agents)]) {
    if (isFunction) continue;
    const reported = stream ? (await agentFor(words[0] ?? "")).reports : [];
    const who = stream ? name : `${name} without its stream`;
    for (const what of ["cost", "tokens"] as const)
      if (limited[what] && !reported.includes(what))
        warnings.add(`${who} does not tell its ${what}: --max-${what} cannot stop it, --max-time can`);
  }
  return [...warnings];
}

async function emptyPatterns({ protect = [], workspace }: RunSpec): Promise<string[]> {
  if (protect.length === 0) return [];
  const { withoutFiles } = await import("../verify/protected/protection.js");
  return withoutFiles(protect, workspace).map((pattern) => `protect: no file matches ${pattern} so far`);
}

/** A command in `checks.inputs` that is written in another way than the check itself makes nothing quicker. */
async function unknownInputs({ checks: speed, recipe, workspace }: RunSpec): Promise<string[]> {
  const named = Object.keys(speed?.inputs ?? {});
  if (named.length === 0) return [];
  const checks = (await recipeRow(recipe)).checks?.(recipe, workspace);
  return named
    .filter((command) => checks?.includes(command) === false)
    .map((command) => {
      const meant = nearest(command, checks ?? []);
      const hint = meant === undefined ? "" : `; did you mean "${brief(meant)}"?`;
      return `checks.inputs: "${brief(command)}" is no check of this run${hint}`;
    });
}
