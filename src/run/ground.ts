import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../errors.js";
import type { LoopEvent } from "../events.js";
import type { Recipe } from "../loop/recipe.js";
import type { RunState } from "../records/run-state.js";
import { gitFolders } from "../workspace/git.js";
import { removeLeftLocks } from "../workspace/left-locks.js";

/** The folder that a run works in, held open: another one at its path is not taken for it. */
export interface Ground {
  isThere(): boolean;
  /** The same recipe; it neither plans nor judges when the folder is not there. */
  under(recipe: Recipe): Recipe;
  release(): void;
}

export function holdGround(workspace: string): Ground {
  const held = openSync(workspace, "r");
  const { dev, ino } = fstatSync(held);
  const isThere = (): boolean => {
    const now = statSync(workspace, { throwIfNoEntry: false });
    return now?.dev === dev && now.ino === ino;
  };
  const check = (): void => {
    if (!isThere()) throw moved(workspace);
  };
  const under = (recipe: Recipe): Recipe => {
    const { baseline, close } = recipe;
    return {
      ...recipe,
      async plan(context) {
        check();
        return recipe.plan(context);
      },
      async *verify(answer, context) {
        check();
        const verdict = yield* recipe.verify(answer, context);
        check();
        return verdict;
      },
      ...(close && { close: () => (isThere() ? close() : undefined) }),
      ...(baseline && {
        baseline(context) {
          check();
          return baseline(context);
        },
      }),
    };
  };
  return { isThere, under, release: () => closeSync(held) };
}

function moved(workspace: string): RalphError {
  const what =
    statSync(workspace, { throwIfNoEntry: false }) === undefined ? "is gone" : "is another folder now";
  return new RalphError(`the workspace ${workspace} ${what}: it was moved, removed or unmounted`, {
    code: "workspace_gone",
    exitCode: 1,
    hint: "put it back, then continue with: ralph resume",
  });
}

const ENDS = new Set<LoopEvent["type"]>(["run.resumed", "agent.finished", "iteration.finished"]);

/** Whether nothing of an agent, a check or ralph itself needs a lock of git after it, and one may have been left. */
function isEnd(event: LoopEvent): boolean {
  const hasFailed = event.type !== "iteration.finished" && "passed" in event && !event.passed;
  return ENDS.has(event.type) || hasFailed;
}

/**
 * Removes the locks that calls leave in the repository, before the loop goes on. The result tells each event of the
 * loop, and what was removed around it. `cutOff`: when a call of an earlier process began that was cut off.
 */
export function leftLockRemover(workspace: string, state: RunState, cutOff: number | undefined) {
  // An agent could make `.git` lead to another repository.
  const records = gitFolders(workspace);
  let since = cutOff;
  let hasRun = since !== undefined;
  function* removed(type: LoopEvent["type"]): Generator<LoopEvent> {
    if (!hasRun && type === "iteration.finished") since = undefined;
    if (since === undefined || !hasRun) return;
    const { removed: files, isHeld } = removeLeftLocks(
      records.length > 0 ? records : madeIn(workspace),
      since,
    );
    hasRun = isHeld;
    if (type === "iteration.finished" && !isHeld) since = undefined;
    if (files.length === 0) return;
    const envelope = { v: 1 as const, ts: new Date().toISOString(), run: state.run };
    yield { ...envelope, type: "locks.removed", iteration: state.iterations + 1, files };
  }
  return function* around(event: LoopEvent): Generator<LoopEvent> {
    const { type, ts } = event;
    if (type === "run.finished") yield* removed(type);
    yield event;
    if (type === "agent.started" || type === "check.started") {
      since ??= Date.parse(ts);
      hasRun = true;
    }
    if (isEnd(event)) yield* removed(type);
  };
}

/** Records of a repository that an agent has made in the workspace. */
function madeIn(workspace: string): string[] {
  return gitFolders(workspace).filter((folder) => folder === join(workspace, ".git"));
}
