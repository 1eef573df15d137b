import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsed } from "../elapsed.js";
import type { LoopEvent, LoopEventBody } from "../events.js";
import type { Clock, Effects, WorkLeft } from "../loop/effects.js";
import { loop } from "../loop/loop.js";
import type { Recipe } from "../loop/recipe.js";
import { untilMerged, violationOf, withProtection, withWitness } from "../recipes/protected.js";
import { recipeRow } from "../recipes/registry.js";
import type { RecipeContext } from "../recipes/row.js";
import type { RunState } from "../records/run-state.js";
import { titleOf } from "../records/spec.js";
import { pendingWords } from "../records/words.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { HiddenChecks } from "../verify/hidden.js";
import { changedFiles } from "../workspace/changes.js";
import { treeState } from "../workspace/fingerprint.js";
import { forgetStart, rememberStart, type Start } from "../workspace/git.js";
import { unfinished } from "../workspace/start.js";
import { type Asker, askerOf } from "./asker.js";
import { gitOfRun, holdGround, leftLockRemover, type RunGit } from "./ground.js";
import { openSandbox } from "./sandbox.js";
import type { RunContext, RunSpec } from "./spec.js";

/** What to release, the last one first. */
type Releases = (() => unknown)[];

/** Builds the loop of a run, with the real world as its effects. `close` ends it and releases what the run holds. */
export async function assemble(state: RunState, context: RunContext) {
  const held: Releases = [];
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

async function assembleInside(state: RunState, context: RunContext, held: Releases) {
  const { name, workspace, limits, agent, agents = {}, keepBackground } = context.spec;
  const ground = holdGround(workspace);
  held.push(ground.release);
  const sandbox = await openSandbox(context);
  held.push(() => sandbox?.close());
  const git = await gitOfRun(context);
  const { start } = git;
  const asker = await askerOf(context, sandbox, git);
  const protection = await protectionOf(context);
  const hidden = await hiddenOf(context);
  if (context.lane === undefined) held.push(() => hidden?.writeLogs());
  const parts = { sandbox, git, asker, protection, hidden };
  const created = await createRecipe(context, parts);
  const witnessed = context.spec.requireWitness ? withWitness(created) : created;
  const asked = context.lane?.around(witnessed) ?? witnessed;
  const recipe = ground.under(protection.around(start === undefined ? asked : untilMerged(asked, start)));
  const effects = effectsOf(context, parts, recipe, ground.isThere);
  const options = {
    ...(name !== undefined && { name }),
    ...{ limits, workspace, agent: agent.name, credentials: asker.credentials },
    others: Object.fromEntries(Object.entries(agents).map(([role, { name }]) => [role, name])),
    ...(keepBackground && { background: "keep" as const }),
  };
  if (start !== undefined) {
    held.push(() => forgetStart(start));
    rememberStart(start);
  }
  held.push(() => recipe.close?.());
  const closeHooks = await asker.openHooks?.(recipe);
  held.push(() => closeHooks?.());
  const leftLocks = leftLockRemover(workspace, state, context.cutOff, context.lane !== undefined);
  const events = loop(recipe, effects, options, state);
  held.push(() => events.return(undefined as never));
  return {
    events,
    /** An event of the loop with the events of what ralph does around it, in order. */
    around(event: LoopEvent): Iterable<LoopEvent> {
      // After a pause a sandbox has to look at the files again.
      if (event.type === "run.resumed") sandbox?.wasPaused();
      // A kill right after the end is written must leave nothing to clean up.
      if (event.type === "run.finished" && start !== undefined) forgetStart(start);
      return leftLocks(event);
    },
  };
}

interface RunParts {
  sandbox: Sandbox | undefined;
  git: RunGit;
  asker: Asker;
  protection: RunProtection;
  hidden: HiddenChecks | undefined;
}

async function hiddenOf({ spec, hidden: given = [], folder, lane }: RunContext) {
  if (given.length === 0) return undefined;
  const { createHidden } = await import("../verify/hidden.js");
  const { createHold } = await import("../ask/hold.js");
  const { markChildren } = await import("../process/kill.js");
  if (!spec.keepBackground) markChildren();
  const hidden = createHidden(given, folder.hidden, (lane?.hold ?? createHold()).alone);
  lane?.atEnd(hidden.writeLogs);
  return hidden;
}

/** Keeps the protected files of a run as they are. */
interface RunProtection {
  around(recipe: Recipe): Recipe;
  /** Asked after each check: why it does not count. */
  spoiled?: RecipeContext["spoiled"];
  /** Undoes changes of an agent that was cut off, and all changes before the files go back to the user. */
  settle(iteration: number): AsyncGenerator<LoopEventBody, void>;
}

async function protectionOf({ spec, folder, folderFor }: RunContext): Promise<RunProtection> {
  const { protect: given = [], recipe: asked, workspace } = spec;
  const protect = [...given, ...((await recipeRow(asked)).protects ?? [])];
  if (protect.length === 0) return { around: (recipe) => recipe, async *settle() {} };
  const { createProtection } = await import("../verify/protected/protection.js");
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
  { spec, settings, folder, folderFor, host, env, redact }: RunContext,
  { asker, git, sandbox, protection, hidden }: RunParts,
): Promise<Recipe> {
  const { workspace, recipe: asked, base, keepBackground, copied = [] } = spec;
  const row = await recipeRow(asked);
  // By default the checks run one after the other, in their order.
  const isPlain = spec.checks === undefined && !row.hasInputs?.(asked);
  const { createSchedule } = isPlain ? {} : await import("../verify/speed.js");
  const schedule = createSchedule?.(spec.checks ?? {}, { workspace, records: folder.path });
  const setup: RecipeContext = {
    ...{ workspace, env, redact, base, keepBackground, folderFor },
    records: folder.path,
    outputChars: settings.outputTruncateChars,
    kill: host.signals.kill,
    hidden: copied,
    schedule,
    confirm: spec.confirm,
    hiddenChecks: hidden?.checks,
    ...(spec.sandbox?.checks && { sandbox }),
    agentSandbox: sandbox,
    isShutIn: spec.sandbox !== undefined && spec.sandbox.kind !== "none",
    spoiled: protection.spoiled,
    newPrograms: git.newPrograms,
    askForCommitMessage: asker.askForCommitMessage,
  };
  const { baseline, ...recipe } = await row.create(asked, setup);
  if (!spec.baseline || baseline === undefined) return recipe;
  return {
    ...recipe,
    async *baseline(before) {
      const own = yield* baseline(before);
      const more = own && hidden && (yield* hidden.run(setup, before));
      return more === undefined ? own : [...(own ?? []), ...more.map(({ event }) => event)];
    },
  };
}

function effectsOf(
  context: RunContext,
  { asker, git, protection, hidden }: RunParts,
  recipe: Recipe,
  isThere: () => boolean,
): Effects {
  const { spec, folder, host, lane } = context;
  const { workspace, worktree = null, copied = [] } = spec;
  const { signals } = host;
  const askAndWatch: Asker["ask"] = async function* (request) {
    try {
      return yield* asker.ask(request);
    } finally {
      await git.watchFilters();
    }
  };
  const since = { workspace, base: spec.base, hidden: copied, records: folder.path, stop: signals.kill };
  return {
    // Without commits there is nothing to watch, and events pass one generator fewer.
    runAgent: git.newPrograms === undefined ? asker.ask : askAndWatch,
    clock: systemClock,
    tree: { own: new Set(), read: () => treeState(workspace, signals.kill) },
    changedFiles: async () => (isThere() ? changedFiles(since, new Date(spec.createdAt)) : null),
    async *settle(iterations) {
      if (!isThere()) return { worktree };
      yield* protection.settle(iterations + 1);
      // Files that a recipe leaves for its agents are not their work.
      await recipe.close?.();
      return yield* settle(spec, iterations, signals.kill, git.start);
    },
    // Most runs fail, and load nothing for it. What a lane does for a story is proved when it lands.
    ...((lane === undefined || spec.recipe.kind !== "stories") && {
      prove: async (state) => (isThere() ? (await import("./prove.js")).prove(context, state, hidden) : {}),
    }),
    isPaused() {
      const isPaused = existsSync(folder.pause);
      if (isPaused) void recipe.release?.();
      return isPaused;
    },
    async *handOver(iteration) {
      yield* protection.settle(iteration);
      await recipe.release?.();
    },
    steering: lane?.steering ?? (() => pendingWords(folder)),
    ...(host.limits && { limits: host.limits }),
    ...(host.limited && { limited: host.limited }),
    signals,
  };
}

export const systemClock: Clock = {
  now: () => new Date(),
  elapsed,
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
};

/** How long the commit may take after a second signal. */
const HURRIED_MS = 20_000;

/** Aborted so long after the other one, which may be aborted already. */
function soonAfter(signal: AbortSignal, ms: number): AbortSignal {
  const end = new AbortController();
  const wait = (): void => AbortSignal.timeout(ms).addEventListener("abort", () => end.abort());
  if (signal.aborted) wait();
  else signal.addEventListener("abort", wait, { once: true });
  return end.signal;
}

/** Commits what an agent left uncommitted in a worktree, or on another branch: a merge would not have it. */
async function* settle(
  spec: RunSpec,
  iteration: number,
  kill: AbortSignal,
  start: Start | undefined,
): AsyncGenerator<LoopEventBody, WorkLeft> {
  const { worktree, origin = "", copied = [], id } = spec;
  if (worktree === undefined) {
    const unsettled = start && (await unfinished(start.root, start));
    return { worktree: null, ...(unsettled !== undefined && { unsettled }) };
  }
  const begun = elapsed();
  const { settleWorktree } = await import("../workspace/worktree/leftovers.js");
  const { landingMessage } = await import("../workspace/landing/merge.js");
  const message = landingMessage(titleOf(spec), id);
  const stop = soonAfter(kill, HURRIED_MS);
  const { found, failure } = await settleWorktree({ path: worktree, origin, message, copied, stop });
  if (!found && failure === undefined) return { worktree };
  const passed = failure === undefined;
  const durationMs = Math.round(elapsed() - begun);
  const commit = { passed, exitCode: passed ? 0 : 1, durationMs, message: failure ?? message };
  yield { type: "scm.finished", iteration, task: "commit", ...commit };
  return { worktree, ...(!passed && { unsettled: failure }) };
}
