import { realpathSync } from "node:fs";
import { join } from "node:path";
import { unlessGiven } from "../agents/flags.js";
import { agentFor } from "../agents/index.js";
import { tellsOfLogin } from "../agents/own-words.js";
import { type AgentSetup, runAgent } from "../ask/run-agent.js";
import type { AgentFinished, CallSpending } from "../events.js";
import type { AgentRequest, Budget, Effects } from "../loop/effects.js";
import type { Recipe } from "../loop/recipe.js";
import { type Captured, capture } from "../process/capture.js";
import type { Command } from "../process/run.js";
import { which } from "../process/which.js";
import { recipeRow } from "../recipes/registry.js";
import type { RecipeContext } from "../recipes/row.js";
import { makePrivateFolder } from "../records/files.js";
import { OWN_AGENT } from "../records/limited.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { fingerprint } from "../workspace/fingerprint.js";
import { gitFolders, repositoryRoot } from "../workspace/git.js";
import { COMMIT_PROMPT, type CommitMessage } from "../workspace/scm.js";
import type { RunContext } from "./context.js";
import type { RunGit } from "./git.js";
import type { RunHooks } from "./hooks.js";
import { SHUT_IN } from "./sandbox.js";
import { type AgentSpec, usesTerminal } from "./spec.js";

/** Asks the agents of a run. */
export interface Asker {
  ask: Effects["runAgent"];
  askForCommitMessage: RecipeContext["askForCommitMessage"];
  /** Name of the variable with the agent's key, if one is set. */
  credentials: string | null;
  /** From now on the agent's hooks are answered as the recipe wants it. */
  openHooks(recipe: Recipe): Promise<void>;
  closeHooks(): void;
}

export function askerOf(context: RunContext, sandbox: Sandbox | undefined, git: RunGit): Promise<Asker> {
  return context.agent === undefined ? programs(context, sandbox, git) : ownFunction(context);
}

async function programs(context: RunContext, sandbox: Sandbox | undefined, git: RunGit): Promise<Asker> {
  const { spec, variables, folder, hookToken } = context;
  const setupFor = (agent: AgentSpec, role: string): Promise<AgentSetup> =>
    agentSetup(agent, { ...context, env: { ...context.env, ...variables[role] } }, sandbox, git);
  const setup = await setupFor(spec.agent, OWN_AGENT);
  const others = new Map<string | undefined, AgentSetup>();
  for (const [role, agent] of Object.entries(spec.agents ?? {}))
    others.set(role, await setupFor(agent, role));
  const call = await callerFor(context);
  let hooks: RunHooks | undefined;
  return {
    ask(request) {
      const asked = others.get(request.agent) ?? setup;
      return call({ ...asked, hooks: hooks?.beginCall(asked) }, request);
    },
    async openHooks(recipe) {
      const able = [setup, ...others.values()].filter(({ agent, help }) => agent.hooks?.areIn(help));
      if (able.length === 0 || sandbox?.reachesLoop === false) return;
      const { startHooks } = await import("./hooks.js");
      hooks = await startHooks(able, recipe, { token: hookToken, folder: folder.path });
    },
    closeHooks: () => hooks?.close(),
    askForCommitMessage: (iteration, budget) => askForCommitMessage(setup, iteration, budget),
    credentials: setup.agent.credentials.find((name) => setup.env[name]) ?? null,
  };
}

type Call = (setup: AgentSetup, request: AgentRequest) => ReturnType<Effects["runAgent"]>;

/** A command that is no known agent, or is to be typed to, gets the terminal of its window, where it has one. */
async function callerFor({ spec: { promptVia = "stdin" }, host: { terminal } }: RunContext): Promise<Call> {
  if (terminal === undefined) return runAgent;
  const { runOnTerminal } = await import("../ask/run-on-terminal.js");
  return (setup, request) =>
    usesTerminal(setup.agent.name, promptVia)
      ? runOnTerminal({ ...setup, ...terminal, promptVia }, request)
      : runAgent(setup, request);
}

async function ownFunction({ spec, agent, host, redact, folderFor }: RunContext): Promise<Asker> {
  const { runFunction } = await import("../ask/run-function.js");
  const setup = {
    agent: agent as NonNullable<typeof agent>,
    name: spec.agent.name,
    workspace: spec.workspace,
    iterationTimeoutMs: spec.limits.iterationTimeoutMs,
    kill: host.signals.kill,
    redact,
    folderFor,
  };
  return {
    ask: (request) => runFunction(setup, request),
    askForCommitMessage: async () => ({ text: "" }),
    credentials: null,
    openHooks: async () => {},
    closeHooks() {},
  };
}

/** All that a call of an agent needs and that stays the same from call to call. */
async function agentSetup(
  asked: AgentSpec,
  context: RunContext,
  sandbox: Sandbox | undefined,
  { watchFilters }: RunGit,
): Promise<AgentSetup> {
  const { spec, host, redact, folderFor } = context;
  const { workspace, recipe, limits } = spec;
  const file = asked.words[0] ?? "";
  const agent = await agentFor(file);
  const env = { ...context.env, ...(sandbox && SHUT_IN) };
  const probe =
    agent.probe &&
    (await probed({ file, args: agent.probe, cwd: workspace, env }, sandbox, host.signals.stop));
  const asksForCommits = (await recipeRow(recipe)).commits?.(recipe) === "agents";
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
    gitFolders: asksForCommits ? gitFolders(workspace) : [],
    env,
    redact,
    inactivityTimeoutMs: limits.inactivityTimeoutMs,
    iterationTimeoutMs: limits.iterationTimeoutMs,
    allowOverage: limits.allowOverage,
    fingerprint: async () => {
      await watchFilters();
      return fingerprint(workspace);
    },
    kill: host.signals.kill,
    keepBackground: spec.keepBackground,
    folderFor,
  };
}

const PROBE_MS = 15_000;

/** What an agent says of itself. One that lies in the project may have been changed by an earlier one: it is shut in. */
async function probed(command: Command, sandbox: Sandbox | undefined, stop: AbortSignal): Promise<Captured> {
  const { file, cwd, env } = command;
  const found = which(file, cwd, env["PATH"]);
  const isOfProject =
    found.status === "found" &&
    [found.path, realpathSync(found.path)].some((path) => path.startsWith(`${cwd}/`));
  const around = sandbox?.hasOwnPrograms || isOfProject ? sandbox : undefined;
  const said = await capture((await around?.wrap({ command })) ?? command, { timeoutMs: PROBE_MS, stop });
  if (around?.hasOwnPrograms === false) await around.ended(said);
  return said;
}

const COMMIT_MESSAGE_MS = 5 * 60_000;

/** In a stream, where there is one, so that it is known what the message costs. */
async function askForCommitMessage(
  setup: AgentSetup,
  iteration: number,
  { remaining: left, pricePerToken }: Partial<Budget> = {},
): Promise<CommitMessage> {
  const folderFor = (number: number): string => {
    const folder = join(setup.folderFor(number), "commit-message");
    makePrivateFolder(folder);
    return folder;
  };
  const timeMs = Math.min(COMMIT_MESSAGE_MS, left?.timeMs ?? COMMIT_MESSAGE_MS);
  const remaining = { costUsd: left?.costUsd, tokens: left?.tokens, timeMs };
  // With nothing left to spend, ralph words the commit itself.
  if (Object.values(remaining).some((amount) => amount !== undefined && amount <= 0)) return { text: "" };
  const request = { iteration, attempt: 1, prompt: COMMIT_PROMPT, remaining, pricePerToken };
  const asked = runAgent({ ...setup, flags: [...setup.flags, ...textFlags(setup)], folderFor }, request);
  const plain: string[] = [];
  let finished: AgentFinished | undefined;
  let step = await asked.next();
  for (; !step.done; step = await asked.next()) {
    const event = step.value;
    if (event.type === "agent.finished") finished = event;
    if (event.type === "agent.event" && event.event.type === "unknown") plain.push(event.event.line);
  }
  const { error, finalMessage } = step.value;
  // An agent that is started by a program of the user may print its answer alone.
  const isPlain = finished?.exitCode === 0 && finalMessage === "" && !plain.some(tellsOfLogin);
  const text = isPlain ? plain.join("\n") : error === null ? finalMessage : "";
  // It is written into the history, and pushed.
  return { text: setup.redact(text), spent: finished && spentIn(finished) };
}

function textFlags({ agent, mode, words, flags }: AgentSetup): string[] {
  return mode === "text" ? [] : unlessGiven([...words, ...flags], agent.textFlags ?? []);
}

function spentIn(event: AgentFinished): CallSpending | undefined {
  const { costUsd, costEstimated, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = event;
  if (costUsd === null && inputTokens + outputTokens === 0) return undefined;
  const spent = { costUsd, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  return costEstimated ? { ...spent, costEstimated } : spent;
}
