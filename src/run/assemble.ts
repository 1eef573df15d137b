import { existsSync } from "node:fs";
import type { LoopEvent, Outcome } from "../events.js";
import type { Effects } from "../loop/effects.js";
import { loop } from "../loop/loop.js";
import type { Recipe } from "../loop/recipe.js";
import { recipeRow } from "../recipes/registry.js";
import { untilMerged } from "../recipes/unfinished.js";
import type { RunState } from "../records/run-state.js";
import { iterationFolder } from "../records/runs.js";
import { pendingWords } from "../records/words.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { changedFiles } from "../workspace/changes.js";
import { treeState } from "../workspace/fingerprint.js";
import { forgetStart, rememberStart } from "../workspace/git.js";
import { type Asker, askerOf } from "./asker.js";
import { systemClock } from "./clock.js";
import { startOfRun } from "./git-start.js";
import { filterWatch, programsOf } from "./git-trust.js";
import { type Ground, holdGround, withoutLeftLocks } from "./ground.js";
import { protectionOf } from "./protection.js";
import type { RunContext } from "./run-context.js";
import { openSandbox } from "./sandbox.js";
import { settle } from "./settle.js";
import type { RunSpec } from "./spec.js";

/** The loop of a spec, with the real world as its effects. */
export async function* assemble(
  spec: RunSpec,
  state: RunState,
  context: RunContext,
): AsyncGenerator<LoopEvent, Outcome> {
  const ground = holdGround(spec.workspace);
  let sandbox: Sandbox | undefined;
  try {
    sandbox = await openSandbox(spec, context);
    // After a pause a sandbox has to look at the files again.
    return yield* watched(assembleInside(spec, state, context, { sandbox, ground }), ({ type }) => {
      if (type === "run.resumed") sandbox?.wasPaused();
    });
  } finally {
    await sandbox?.close();
    ground.release();
  }
}

async function* watched(
  events: AsyncGenerator<LoopEvent, Outcome>,
  onEvent: (event: LoopEvent) => void,
): AsyncGenerator<LoopEvent, Outcome> {
  try {
    for (;;) {
      const step = await events.next();
      if (step.done) return step.value;
      onEvent(step.value);
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
  { sandbox, ground }: { sandbox: Sandbox | undefined; ground: Ground },
): AsyncGenerator<LoopEvent, Outcome> {
  const { workspace, limits } = spec;
  const asker = await askerOf(spec, context, sandbox);
  // What was copied into a worktree is not the run's work, and most often secret.
  const hidden = spec.copied ?? [];
  const start = await startOfRun(spec, context);
  const watchFilters = await filterWatch(spec, context);
  const protection = await protectionOf(spec, context);
  const place = {
    ...context,
    keepBackground: spec.keepBackground,
    agentSandbox: sandbox,
    spoiled: protection.spoiled,
    ...(spec.sandbox?.checks && { sandbox }),
  };
  const { baseline, ...asked } = await createRecipe(spec, place, asker);
  const own = { ...asked, ...(spec.baseline && baseline && { baseline }) };
  const recipe = ground.under(protection.around(start === undefined ? own : untilMerged(own, start)));
  const effects: Effects = {
    runAgent: (request) => followedBy(asker.ask(request), watchFilters),
    clock: systemClock,
    tree: { own: new Set(), look: () => treeState(workspace, context.signals.kill) },
    changedFiles: async () =>
      ground.isThere()
        ? changedFiles(workspace, spec.base, new Date(spec.createdAt), hidden, context.signals.kill)
        : null,
    settle: async function* (iterations) {
      if (!ground.isThere()) return { worktree: spec.worktree ?? null };
      yield* protection.settle(iterations + 1);
      // What a recipe leaves behind for its agents must not be taken for their work.
      await recipe.close?.();
      return yield* settle(spec, iterations, context.signals.kill, start);
    },
    isPaused: () => {
      const isPaused = protection.sawPause(existsSync(context.folder.pause));
      if (isPaused) void recipe.release?.();
      return isPaused;
    },
    async *handOver(iteration) {
      yield* protection.handOver(iteration);
      await recipe.release?.();
    },
    steering: () => pendingWords(context.folder),
    ...(context.limits && { limits: context.limits }),
    signals: context.signals,
  };
  const { credentials } = asker;
  try {
    if (start !== undefined) rememberStart(start);
    await asker.openHooks(recipe);
    const agent = spec.agent.name;
    const others = namesOf(spec.agents);
    const background = spec.keepBackground ? { background: "keep" as const } : {};
    const options = { limits, agent, credentials, workspace, others, ...background };
    const events = loop(recipe, effects, options, state);
    const clean = withoutLeftLocks(events, { workspace, state, since: context.cutOff });
    return yield* clean;
  } finally {
    asker.closeHooks();
    await recipe.close?.();
    if (start !== undefined) forgetStart(start);
  }
}

async function createRecipe(
  spec: RunSpec,
  context: RunContext,
  { askForCommitMessage }: Asker,
): Promise<Recipe> {
  const { workspace, recipe, base, keepBackground, copied = [] } = spec;
  const { folder, signals, env, redact, sandbox, agentSandbox, spoiled } = context;
  const row = await recipeRow(recipe);
  return row.create(recipe, {
    ...{ workspace, env, redact, base, keepBackground, sandbox, agentSandbox, spoiled, askForCommitMessage },
    records: folder.path,
    folderFor: (iteration) => iterationFolder(folder, iteration),
    kill: signals.kill,
    hidden: copied,
    schedule: await scheduleOf(spec, folder.path, row.hasInputs?.(recipe) === true),
    isShutIn: spec.sandbox !== undefined && spec.sandbox.kind !== "none",
    newPrograms: await programsOf(spec, context),
  });
}

/** undefined: the checks run one after the other in their order, as nobody asked for anything else. */
async function scheduleOf({ checks, workspace }: RunSpec, records: string, hasInputs: boolean) {
  if (checks === undefined && !hasInputs) return undefined;
  const { createSchedule } = await import("../verify/speed.js");
  return createSchedule(checks ?? {}, { workspace, records });
}

async function* followedBy(
  asked: ReturnType<Effects["runAgent"]>,
  next: () => Promise<void>,
): ReturnType<Effects["runAgent"]> {
  try {
    return yield* asked;
  } finally {
    await next();
  }
}

function namesOf(agents: RunSpec["agents"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(agents).map(([role, { name }]) => [role, name]));
}
