import { join } from "node:path";
import { partsOf } from "../agents/agent.js";
import { agentFor } from "../agents/index.js";
import { tellsOfLogin } from "../agents/own-words.js";
import { type AgentSetup, runAgent } from "../ask/run-agent.js";
import type { FunctionAgent } from "../ask/run-function.js";
import type { AgentFinished, CallSpending } from "../events.js";
import type { Budget, Effects } from "../loop/effects.js";
import type { Recipe } from "../loop/recipe.js";
import { type Command, capture } from "../process/run.js";
import { recipeRow } from "../recipes/registry.js";
import type { RecipeContext } from "../recipes/row.js";
import { makePrivateFolder } from "../records/files.js";
import { OWN_AGENT } from "../records/limited.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { fingerprint } from "../workspace/fingerprint.js";
import { gitFolders, repositoryRoot } from "../workspace/git.js";
import { COMMIT_PROMPT, type CommitMessage } from "../workspace/scm.js";
import type { RunGit } from "./ground.js";
import type { RunHooks } from "./hooks.js";
import { type AgentSpec, type RunContext, usesTerminal } from "./spec.js";

/** Asks the agents of a run. */
export interface Asker {
  ask: Effects["runAgent"];
  askForCommitMessage: RecipeContext["askForCommitMessage"];
  /** Name of the variable with the agent's key, if one is set. */
  credentials: string | null;
  /** Starts to answer the agent's hooks as the recipe wants; the result stops that. */
  openHooks?(recipe: Recipe): Promise<() => void>;
}

export async function askerOf(
  context: RunContext,
  sandbox: Sandbox | undefined,
  git: RunGit,
): Promise<Asker> {
  if (context.agent !== undefined) return functionAsker(context, context.agent);
  const { spec, variables, folder, hookToken: token } = context;
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
      if (able.length === 0 || sandbox?.reachesLoop === false) return () => {};
      const { startHooks } = await import("./hooks.js");
      hooks = await startHooks(able, recipe, { token, folder: folder.path });
      return () => hooks?.close();
    },
    askForCommitMessage: (iteration, budget) => askForCommitMessage(setup, iteration, budget),
    credentials: setup.agent.credentials.find((name) => setup.env[name]) ?? null,
  };
}

/** A command that is no known agent, or that ralph types to, gets the terminal of its window, where there is one. */
async function callerFor({ spec, host: { terminal } }: RunContext): Promise<typeof runAgent> {
  if (terminal === undefined) return runAgent;
  const { promptVia = "stdin" } = spec;
  const { runOnTerminal } = await import("../ask/run-on-terminal.js");
  return (setup, request) =>
    usesTerminal(setup.agent.name, promptVia)
      ? runOnTerminal({ ...setup, ...terminal, promptVia }, request)
      : runAgent(setup, request);
}

async function functionAsker(
  { spec, host, redact, folderFor }: RunContext,
  agent: FunctionAgent,
): Promise<Asker> {
  const { runFunction } = await import("../ask/run-function.js");
  const { workspace, limits } = spec;
  const setup = { ...limits, workspace, redact, folderFor, agent, kill: host.signals.kill };
  return {
    ask: (request) => runFunction({ ...setup, name: spec.agent.name }, request),
    askForCommitMessage: async () => ({ text: "" }),
    credentials: null,
  };
}

/** What every call of an agent needs and no call changes. */
async function agentSetup(
  asked: AgentSpec,
  { spec, host, redact, folderFor, lane, ...context }: RunContext,
  sandbox: Sandbox | undefined,
  { watchFilters }: RunGit,
): Promise<AgentSetup> {
  const { workspace, recipe, limits, keepBackground } = spec;
  const file = asked.words[0] ?? "";
  const agent = await agentFor(file);
  // Tells an agent that it is in a sandbox: as root, some work nowhere else.
  const env = { ...context.env, ...(sandbox && { IS_SANDBOX: "1" }) };
  const { stop, kill, over } = host.signals;
  const help = agent.probe && (await probed({ file, args: agent.probe, cwd: workspace, env }, sandbox, stop));
  const asksForCommits = (await recipeRow(recipe)).commits?.(recipe) === "agents";
  return {
    ...{ ...limits, ...asked, agent, model: asked.model, workspace, env, redact, sandbox, kill, folderFor },
    ...{ keepBackground, over, alive: host.alive, hold: lane?.hold },
    // An agent cannot open a sandbox of its own inside this one.
    permissions: sandbox !== undefined && asked.permissions === "unattended" ? "all" : asked.permissions,
    help: help ?? "",
    mode: spec.stream ? "stream" : "text",
    inRepository: repositoryRoot(workspace) !== undefined,
    gitFolders: asksForCommits ? gitFolders(workspace) : [],
    fingerprint: async () => {
      await watchFilters();
      return fingerprint(workspace);
    },
  };
}

const PROBE_MS = 15_000;

/** Asks an agent for its version and flags; one that an earlier agent may have changed is asked inside the sandbox. */
async function probed(command: Command, sandbox: Sandbox | undefined, stop: AbortSignal): Promise<string> {
  const said = await capture((await sandbox?.wrap({ command })) ?? command, { timeoutMs: PROBE_MS, stop });
  if (sandbox?.hasOwnPrograms === false) await sandbox.ended(said);
  return said.stdout + said.stderr;
}

const COMMIT_MESSAGE_MS = 5 * 60_000;

/** As a stream, where the agent has one: only a stream says what the message costs. */
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
  // With nothing left to spend, ralph writes the message itself.
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
  // An agent that a wrapper of the user starts may print only its answer.
  const isPlain = finished?.exitCode === 0 && finalMessage === "" && !plain.some(tellsOfLogin);
  const text = isPlain ? plain.join("\n") : error === null ? finalMessage : "";
  // The message goes into the history, and may be pushed.
  return { text: setup.redact(text), spent: finished && spentIn(finished) };
}

function textFlags(setup: AgentSetup): string[] {
  return setup.mode === "text" ? [] : partsOf(setup).ours(setup.agent.textFlags ?? []);
}

function spentIn(event: AgentFinished): CallSpending | undefined {
  const { costUsd, costEstimated, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = event;
  if (costUsd === null && inputTokens + outputTokens === 0) return undefined;
  const spent = { costUsd, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  return costEstimated ? { ...spent, costEstimated } : spent;
}
