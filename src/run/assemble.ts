import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoopEvent, LoopEventBody, Outcome } from "../events.js";
import type { Clock, Effects, Settled } from "../loop/effects.js";
import { loop } from "../loop/loop.js";
import type { Recipe } from "../loop/recipe.js";
import { recipeRow } from "../recipes/registry.js";
import type { RecipeContext } from "../recipes/row.js";
import { untilMerged } from "../recipes/unfinished.js";
import type { RunState } from "../records/run-state.js";
import { pendingWords } from "../records/words.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { changedFiles } from "../workspace/changes.js";
import { treeState } from "../workspace/fingerprint.js";
import { forgetStart, rememberStart, type Start } from "../workspace/git.js";
import { unfinishedSince } from "../workspace/start.js";
import { type Asker, askerOf } from "./asker.js";
import type { RunContext } from "./context.js";
import { gitOfRun, type RunGit } from "./git.js";
import { type Ground, holdGround, leftLockRemover } from "./ground.js";
import { openSandbox } from "./sandbox.js";
import type { RunSpec } from "./spec.js";

/** A run at work. */
interface Assembly {
  events: AsyncGenerator<LoopEvent, Outcome>;
  /** An event of the loop with what ralph does around it: all of them are told in this order. */
  around(event: LoopEvent): Iterable<LoopEvent>;
  /** Ends the loop, and lets go of all that the run holds. */
  close(): Promise<void>;
}

/** The loop of a run, with the real world as its effects. */
export async function assemble(state: RunState, context: RunContext): Promise<Assembly> {
  const held: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    const release = held.pop();
    if (release === undefined) return;
    try {
      await release();
    } finally {
      await close();
    }
  };
  try {
    return { ...(await assembleInside(state, context, held)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** `held` takes what has to be let go of, the last one first. */
async function assembleInside(
  state: RunState,
  context: RunContext,
  held: (() => unknown)[],
): Promise<Omit<Assembly, "close">> {
  const { spec } = context;
  const { workspace, limits, keepBackground } = spec;
  const ground = holdGround(workspace);
  held.push(ground.release);
  const sandbox = await openSandbox(context);
  held.push(() => sandbox?.close());
  const git = await gitOfRun(context);
  const asker = await askerOf(context, sandbox, git);
  const protection = await protectionOf(context);
  const asked = await createRecipe(context, { asker, git, sandbox, protection });
  const { start } = git;
  const recipe = ground.under(protection.around(start === undefined ? asked : untilMerged(asked, start)));
  const effects = effectsOf(context, { recipe, asker, git, protection, ground });
  const options = {
    limits,
    agent: spec.agent.name,
    credentials: asker.credentials,
    workspace,
    others: Object.fromEntries(Object.entries(spec.agents ?? {}).map(([role, { name }]) => [role, name])),
    ...(keepBackground && { background: "keep" as const }),
  };
  if (start !== undefined) {
    held.push(() => forgetStart(start));
    rememberStart(start);
  }
  held.push(() => recipe.close?.(), asker.closeHooks);
  await asker.openHooks(recipe);
  const leftLocks = leftLockRemover(workspace, state, context.cutOff);
  const events = loop(recipe, effects, options, state);
  held.push(() => events.return(undefined as never));
  return {
    events,
    around(event) {
      // After a pause a sandbox has to look at the files again.
      if (event.type === "run.resumed") sandbox?.wasPaused();
      // Nobody cleans up after a run that is killed when its end is written down.
      if (event.type === "run.finished" && start !== undefined) forgetStart(start);
      return leftLocks(event);
    },
  };
}

interface Parts {
  asker: Asker;
  git: RunGit;
  protection: RunProtection;
}

/** Keeps the protected files of a run as they are. */
interface RunProtection {
  around(recipe: Recipe): Recipe;
  /** Asked after each check: why it does not count. */
  spoiled?: RecipeContext["spoiled"];
  /** Undoes what an agent did that was cut off, or before the files are the user's. */
  settle(iteration: number): AsyncGenerator<LoopEventBody, void>;
}

async function protectionOf({ spec, folder, folderFor }: RunContext): Promise<RunProtection> {
  const { protect: given = [], recipe: asked, workspace } = spec;
  const protect = [...given, ...((await recipeRow(asked)).protects ?? [])];
  if (protect.length === 0) return { around: (recipe) => recipe, async *settle() {} };
  const { createProtection } = await import("../verify/protected/protection.js");
  const { violationOf, withProtection } = await import("../recipes/protected.js");
  const protection = createProtection(protect, { workspace, records: folder.path, folderFor });
  return {
    around: (recipe) => withProtection(recipe, protection, protect),
    spoiled: protection.spoiled,
    async *settle(iteration) {
      if (!protection.isOpen()) return;
      const undone = await protection.undo(iteration);
      yield* undone.map((one) => violationOf(one, iteration));
      protection.end();
    },
  };
}

async function createRecipe(
  { spec, folder, folderFor, host, env, redact }: RunContext,
  { asker, git, sandbox, protection }: Parts & { sandbox: Sandbox | undefined },
): Promise<Recipe> {
  const { workspace, recipe: asked, base, keepBackground, copied = [] } = spec;
  const row = await recipeRow(asked);
  const { baseline, ...recipe } = await row.create(asked, {
    ...{ workspace, env, redact, base, keepBackground, folderFor },
    records: folder.path,
    kill: host.signals.kill,
    hidden: copied,
    schedule: await scheduleOf(spec, folder.path, row.hasInputs?.(asked)),
    ...(spec.sandbox?.checks && { sandbox }),
    agentSandbox: sandbox,
    isShutIn: spec.sandbox !== undefined && spec.sandbox.kind !== "none",
    spoiled: protection.spoiled,
    newPrograms: git.newPrograms,
    askForCommitMessage: asker.askForCommitMessage,
  });
  return { ...recipe, ...(spec.baseline && baseline && { baseline }) };
}

/** undefined: the checks run one after the other in their order, as nobody asked for anything else. */
async function scheduleOf({ checks, workspace }: RunSpec, records: string, hasInputs = false) {
  if (checks === undefined && !hasInputs) return undefined;
  const { createSchedule } = await import("../verify/speed.js");
  return createSchedule(checks ?? {}, { workspace, records });
}

function effectsOf(
  { spec, folder, host }: RunContext,
  { recipe, asker, git, protection, ground }: Parts & { recipe: Recipe; ground: Ground },
): Effects {
  const { workspace, worktree = null, copied = [] } = spec;
  const { kill } = host.signals;
  const askAndWatch: Asker["ask"] = async function* (request) {
    try {
      return yield* asker.ask(request);
    } finally {
      await git.watchFilters();
    }
  };
  return {
    // Where nobody commits there is nothing to watch, and an event passes one generator less.
    runAgent: git.newPrograms === undefined ? asker.ask : askAndWatch,
    clock: systemClock,
    tree: { own: new Set(), read: () => treeState(workspace, kill) },
    changedFiles: async () =>
      ground.isThere() ? changedFiles(workspace, spec.base, new Date(spec.createdAt), copied, kill) : null,
    async *settle(iterations) {
      if (!ground.isThere()) return { worktree };
      yield* protection.settle(iterations + 1);
      // What a recipe leaves behind for its agents must not be taken for their work.
      await recipe.close?.();
      return yield* settle(spec, iterations, kill, git.start);
    },
    isPaused() {
      const isPaused = existsSync(folder.pause);
      if (isPaused) void recipe.release?.();
      return isPaused;
    },
    async *handOver(iteration) {
      yield* protection.settle(iteration);
      await recipe.release?.();
    },
    steering: () => pendingWords(folder),
    ...(host.limits && { limits: host.limits }),
    signals: host.signals,
  };
}

const systemClock: Clock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
};

/** How long the commit may take after a second signal. */
const HURRIED_MS = 20_000;

/** What an agent left uncommitted in a worktree, or on another branch, would not be part of a merge. */
async function* settle(
  { worktree, origin = "", copied = [], id }: RunSpec,
  iteration: number,
  kill: AbortSignal,
  start: Start | undefined,
): AsyncGenerator<LoopEventBody, Settled> {
  if (worktree === undefined) {
    const unsettled = start && (await unfinishedSince(start));
    return { worktree: null, ...(unsettled !== undefined && { unsettled }) };
  }
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
