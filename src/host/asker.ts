import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type AgentSetup, runAgent } from "../ask/run-agent.js";
import type { FunctionAgent } from "../ask/run-function.js";
import type { AgentRequest, Effects } from "../loop/effects.js";
import type { Recipe } from "../recipes/recipe.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { iterationFolder } from "../state/runs.js";
import { COMMIT_PROMPT } from "../workspace/scm.js";
import { agentSetup } from "./agent-setup.js";
import type { RunHooks } from "./hooks.js";
import type { RunContext } from "./run-context.js";
import { type RunSpec, usesTerminal } from "./spec.js";

/** Whoever is asked in an iteration. */
export interface Asker {
  ask: Effects["runAgent"];
  askForCommitMessage(iteration: number): Promise<string>;
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
    askForCommitMessage: async () => "",
    credentials: null,
    openHooks: async () => {},
    closeHooks() {},
  };
}

const COMMIT_MESSAGE_MS = 5 * 60_000;

async function askForCommitMessage(setup: AgentSetup, iteration: number): Promise<string> {
  const folderFor = (number: number): string => {
    const folder = join(setup.folderFor(number), "commit-message");
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  const asked = runAgent(
    { ...setup, mode: "text", folderFor },
    {
      iteration,
      attempt: 1,
      prompt: COMMIT_PROMPT,
      remaining: { costUsd: undefined, tokens: undefined, timeMs: COMMIT_MESSAGE_MS },
    },
  );
  let step = await asked.next();
  while (!step.done) step = await asked.next();
  return step.value.error === null ? step.value.finalMessage : "";
}
