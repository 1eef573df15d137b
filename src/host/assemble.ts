import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { agentFor } from "../agents/index.js";
import { type AgentSetup, runAgent } from "../ask/run-agent.js";
import type { FunctionAgent } from "../ask/run-function.js";
import type { TerminalSetup } from "../ask/run-on-terminal.js";
import type { LoopEvent, LoopEventBody } from "../events.js";
import type { AgentRequest, Effects, Settled, Signals } from "../loop/effects.js";
import { loop } from "../loop/loop.js";
import type { Outcome } from "../loop/outcome.js";
import { capture } from "../process/capture.js";
import type { Recipe } from "../recipes/recipe.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { pendingWords } from "../state/answer.js";
import type { Redact } from "../state/redact.js";
import type { RunState } from "../state/run-state.js";
import { iterationFolder, type RunFolder } from "../state/runs.js";
import type { Schedule } from "../verify/schedule.js";
import { changedFiles } from "../workspace/changes.js";
import { fingerprint } from "../workspace/fingerprint.js";
import { repositoryRoot } from "../workspace/git.js";
import { gitFolders } from "../workspace/git-folders.js";
import { COMMIT_PROMPT } from "../workspace/scm.js";
import { systemClock } from "./clock.js";
import type { RunHooks } from "./hooks.js";
import { protectionOf } from "./protection.js";
import { openSandbox, SHUT_IN } from "./sandbox.js";
import { type AgentSpec, type RunSpec, usesTerminal } from "./spec.js";

export interface RunContext {
  folder: RunFolder;
  signals: Signals;
  redact: Redact;
  /** Environment of the agent and of the checks. */
  env: NodeJS.ProcessEnv;
  /** Variables for the agent alone. */
  agentEnv: Record<string, string>;
  /** The same for the other agents of the run, by their roles. */
  otherEnv?: Record<string, Record<string, string>> | undefined;
  /** A function in place of a program. */
  agent?: FunctionAgent | undefined;
  /** Limits as they are now, where they can be changed meanwhile. */
  limits?: Effects["limits"];
  /** A terminal for commands that are no known agent, where there is one. */
  terminal?: Pick<TerminalSetup, "terminal" | "typePrompt"> | undefined;
  /** What the agent's hooks have to know to be answered. */
  hookToken: string;
  /** Where checks run, if they are shut in. */
  sandbox?: Sandbox | undefined;
}

/** The loop of a spec, with the real world as its effects. */
export async function* assemble(
  spec: RunSpec,
  state: RunState,
  context: RunContext,
): AsyncGenerator<LoopEvent, Outcome> {
  const sandbox = await openSandbox(spec, context);
  try {
    return yield* watched(assembleInside(spec, state, context, sandbox), sandbox);
  } finally {
    await sandbox?.close();
  }
}

/** After a pause a sandbox has to look at the files again. */
async function* watched(
  events: AsyncGenerator<LoopEvent, Outcome>,
  sandbox: Sandbox | undefined,
): AsyncGenerator<LoopEvent, Outcome> {
  try {
    for (;;) {
      const step = await events.next();
      if (step.done) return step.value;
      if (step.value.type === "run.resumed") sandbox?.wasPaused();
      yield step.value;
    }
  } finally {
    await events.return(undefined as never);
  }
}

async function* assembleInside(
  spec: RunSpec,
  state: RunState,
  context: RunContext,
  sandbox: Sandbox | undefined,
): AsyncGenerator<LoopEvent, Outcome> {
  const { workspace, limits } = spec;
  const asker = await (context.agent === undefined
    ? program(spec, context, sandbox)
    : ownFunction(spec, context, context.agent));
  // What was copied into a worktree is not the run's work, and most often secret.
  const hidden = spec.copied ?? [];
  const protection = await protectionOf(spec, context);
  const place = spec.sandbox?.checks ? { ...context, sandbox } : context;
  const { baseline, ...asked } = await recipeOf(spec, place, asker, hidden);
  const recipe = protection.around({ ...asked, ...(spec.baseline && baseline && { baseline }) });
  const effects: Effects = {
    runAgent: asker.ask,
    clock: systemClock,
    fingerprint: () => fingerprint(workspace, "content"),
    changedFiles: () => changedFiles(workspace, spec.base, new Date(spec.createdAt), hidden),
    settle: async function* (iterations) {
      yield* protection.settle(iterations + 1);
      // What a recipe leaves behind for its agents must not be taken for their work.
      await recipe.close?.();
      return yield* settle(spec, iterations, context.signals.kill);
    },
    isPaused: () => protection.sawPause(existsSync(context.folder.pause)),
    handOver: protection.handOver,
    steering: () => pendingWords(context.folder),
    ...(context.limits && { limits: context.limits }),
    signals: context.signals,
  };
  const { credentials } = asker;
  try {
    await asker.openHooks(recipe);
    const agent = spec.agent.name;
    const others = namesOf(spec.agents);
    return yield* loop(recipe, effects, { limits, agent, credentials, workspace, others }, state);
  } finally {
    asker.closeHooks();
    await recipe.close?.();
  }
}

function namesOf(agents: RunSpec["agents"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(agents).map(([role, { name }]) => [role, name]));
}

/** Whoever is asked in an iteration. */
interface Asker {
  ask: Effects["runAgent"];
  askForCommitMessage(iteration: number): Promise<string>;
  /** Name of the variable with the agent's key, if one is set. */
  credentials: string | null;
  /** From now on the agent's hooks are answered as the recipe wants it. */
  openHooks(recipe: Recipe): Promise<void>;
  closeHooks(): void;
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

/** Each recipe is loaded when it is used. */
async function recipeOf(
  spec: RunSpec,
  context: RunContext,
  { askForCommitMessage }: Asker,
  hidden: string[],
): Promise<Recipe> {
  const { workspace, recipe } = spec;
  const schedule = await scheduleOf(spec, context);
  switch (recipe.kind) {
    case "prompt": {
      const { promptRecipe } = await import("../recipes/prompt/prompt.js");
      return promptRecipe(recipe, { ...context, workspace, schedule, askForCommitMessage });
    }
    case "repeat": {
      const { repeatRecipe } = await import("../recipes/prompt/repeat.js");
      return repeatRecipe(recipe);
    }
    case "checks": {
      const { checksRecipe } = await import("../recipes/checks/checks.js");
      const { diffSince } = await import("../workspace/diff.js");
      return checksRecipe(recipe, {
        ...context,
        workspace,
        schedule,
        records: context.folder.path,
        folderFor: (iteration) => iterationFolder(context.folder, iteration),
        diff: () => diffSince(workspace, spec.base, hidden),
      });
    }
    case "stories": {
      const { storiesRecipe } = await import("../recipes/stories/stories.js");
      return storiesRecipe(recipe, {
        ...context,
        workspace,
        // No run over stories begins outside of one.
        inRepository: true,
        schedule,
        isShutIn: spec.sandbox !== undefined && spec.sandbox.kind !== "none",
        records: context.folder.path,
        folderFor: (iteration) => iterationFolder(context.folder, iteration),
      });
    }
    case "pipeline": {
      const { pipelineRecipe } = await import("../recipes/pipeline/pipeline.js");
      const { gateEnvironment } = await import("./gate-environment.js");
      const { patchSince } = await import("../workspace/diff.js");
      return pipelineRecipe(recipe, {
        ...context,
        workspace,
        folderFor: (iteration) => iterationFolder(context.folder, iteration),
        gateEnv: gateEnvironment(recipe, context),
        patch: () => patchSince(workspace, spec.base, [...hidden, ...recipe.dirty]),
      });
    }
  }
}

/** undefined: the checks run one after the other in their order, as nobody asked for anything else. */
async function scheduleOf(
  { checks, recipe, workspace }: RunSpec,
  { folder }: RunContext,
): Promise<Schedule | undefined> {
  const haveInputs = recipe.kind === "prompt" && recipe.guardrails.some(({ inputs }) => inputs !== undefined);
  if (checks === undefined && !haveInputs) return undefined;
  const { createSchedule } = await import("../verify/speed.js");
  return createSchedule(checks ?? {}, { workspace, records: folder.path });
}

/** Whoever has already ended the agent by force waits no longer than this for the commit. */
const HURRIED_MS = 20_000;

/** What an agent left uncommitted in a worktree, or on another branch, would not be part of a merge. */
async function* settle(
  { worktree, origin = "", copied = [], id }: RunSpec,
  iteration: number,
  kill: AbortSignal,
): AsyncGenerator<LoopEventBody, Settled> {
  if (worktree === undefined) return { worktree: null };
  const begun = performance.now();
  const { settleWorktree } = await import("../workspace/worktree/leftovers.js");
  const message = `Work of ralph run ${id}`;
  const stop = kill.aborted ? AbortSignal.timeout(HURRIED_MS) : kill;
  const { found, failure } = await settleWorktree({ path: worktree, origin, message, copied, stop });
  if (!found && failure === undefined) return { worktree };
  yield {
    type: "scm.finished",
    iteration,
    task: "commit",
    passed: failure === undefined,
    exitCode: failure === undefined ? 0 : 1,
    durationMs: Math.round(performance.now() - begun),
    message: failure ?? message,
  };
  return { worktree, ...(failure !== undefined && { unsettled: failure }) };
}

const PROBE_MS = 15_000;

async function agentSetup(
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
    fingerprint: () => fingerprint(workspace, "time"),
    kill: context.signals.kill,
    leavesNothing: spec.recipe.kind === "stories",
    folderFor: (iteration) => iterationFolder(context.folder, iteration),
  };
}

function asksForCommits({ recipe }: RunSpec): boolean {
  return recipe.kind === "stories" || recipe.kind === "pipeline";
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
