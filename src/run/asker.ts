import { join } from "node:path";
import { unlessGiven } from "../agents/flags.js";
import { tellsOfLogin } from "../agents/login-text.js";
import { type AgentSetup, runAgent } from "../ask/run-agent.js";
import type { FunctionAgent } from "../ask/run-function.js";
import type { AgentFinished, CallSpending } from "../events.js";
import type { AgentRequest, Effects } from "../loop/effects.js";
import type { Recipe } from "../loop/recipe.js";
import { makePrivateFolder } from "../records/files.js";
import { iterationFolder } from "../records/runs.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { COMMIT_PROMPT, type CommitMessage } from "../workspace/scm.js";
import { agentSetup } from "./agent-setup.js";
import type { RunHooks } from "./hooks.js";
import type { RunContext } from "./run-context.js";
import { type RunSpec, usesTerminal } from "./spec.js";

/** Whoever is asked in an iteration. */
export interface Asker {
  ask: Effects["runAgent"];
  askForCommitMessage(iteration: number): Promise<CommitMessage>;
  /** Name of the variable with the agent's key, if one is set. */
  credentials: string | null;
  /** From now on the agent's hooks are answered as the recipe wants it. */
  openHooks(recipe: Recipe): Promise<void>;
  closeHooks(): void;
}

export function askerOf(spec: RunSpec, context: RunContext, sandbox: Sandbox | undefined): Promise<Asker> {
  return context.agent === undefined
    ? program(spec, context, sandbox)
    : ownFunction(spec, context, context.agent);
}

async function program(spec: RunSpec, context: RunContext, sandbox: Sandbox | undefined): Promise<Asker> {
  const setup = await agentSetup(spec, spec.agent, context, sandbox);
  const ask = await askerFor(spec, context);
  const others = new Map<string | undefined, AgentSetup>();
  for (const [role, agent] of Object.entries(spec.agents ?? {})) {
    const agentEnv = context.otherEnv?.[role] ?? {};
    others.set(role, await agentSetup(spec, agent, { ...context, agentEnv }, sandbox));
  }
  let hooks: RunHooks | undefined;
  return {
    ask(request) {
      const asked = others.get(request.agent) ?? setup;
      return ask({ ...asked, hooks: hooks?.beginCall(asked) }, request);
    },
    async openHooks(recipe) {
      const able = [setup, ...others.values()].filter(({ agent, help }) => agent.hooks?.areIn(help));
      if (able.length === 0 || sandbox?.reachesLoop === false) return;
      const { startHooks } = await import("./hooks.js");
      hooks = await startHooks(able, recipe, { token: context.hookToken, folder: context.folder.path });
    },
    closeHooks: () => hooks?.close(),
    askForCommitMessage: (iteration) => askForCommitMessage(setup, iteration),
    credentials: setup.agent.credentials.find((name) => setup.env[name]) ?? null,
  };
}

type Ask = (setup: AgentSetup, request: AgentRequest) => ReturnType<Effects["runAgent"]>;

/** A command that is no known agent, or is to be typed to, gets the terminal of its window, where it has one. */
async function askerFor({ promptVia = "stdin" }: RunSpec, { terminal }: RunContext): Promise<Ask> {
  if (terminal === undefined) return runAgent;
  const { runOnTerminal } = await import("../ask/run-on-terminal.js");
  return (setup, request) =>
    usesTerminal(setup.agent.name, promptVia)
      ? runOnTerminal({ ...setup, ...terminal, promptVia }, request)
      : runAgent(setup, request);
}

async function ownFunction(
  { agent: { name }, workspace, limits }: RunSpec,
  context: RunContext,
  agent: FunctionAgent,
): Promise<Asker> {
  const { runFunction } = await import("../ask/run-function.js");
  const { iterationTimeoutMs } = limits;
  const { redact, signals } = context;
  const folderFor = (iteration: number): string => iterationFolder(context.folder, iteration);
  const setup = { agent, name, workspace, iterationTimeoutMs, kill: signals.kill, redact, folderFor };
  return {
    ask: (request) => runFunction(setup, request),
    askForCommitMessage: async () => ({ text: "" }),
    credentials: null,
    openHooks: async () => {},
    closeHooks() {},
  };
}

const COMMIT_MESSAGE_MS = 5 * 60_000;

/** In a stream, where there is one, so that it is known what the message costs. */
async function askForCommitMessage(setup: AgentSetup, iteration: number): Promise<CommitMessage> {
  const folderFor = (number: number): string => {
    const folder = join(setup.folderFor(number), "commit-message");
    makePrivateFolder(folder);
    return folder;
  };
  const remaining = { costUsd: undefined, tokens: undefined, timeMs: COMMIT_MESSAGE_MS };
  const request = { iteration, attempt: 1, prompt: COMMIT_PROMPT, remaining };
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

/** Programs that stand in for Claude Code tell this call from others by the word `text`. */
function textFlags({ agent, mode, words, flags }: AgentSetup): string[] {
  if (agent.name !== "claude" || mode === "text") return [];
  return unlessGiven([...words, ...flags], ["--input-format"], ["--input-format", "text"]);
}

function spentIn(event: AgentFinished): CallSpending | undefined {
  const { costUsd, costEstimated, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = event;
  if (costUsd === null && inputTokens + outputTokens === 0) return undefined;
  return {
    ...{ costUsd, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
    ...(costEstimated && { costEstimated }),
  };
}
