import { closeSync, existsSync, fstatSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../errors.js";
import type { LoopEvent } from "../events.js";
import type { Recipe } from "../loop/recipe.js";
import { recipeRow } from "../recipes/registry.js";
import { has, readJson, writeAlone } from "../records/files.js";
import type { RunState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import { gitFolders, repositoryRoot, type Start, withholdFilters } from "../workspace/git.js";
import {
  type FindNewPrograms,
  type GitPrograms,
  gitPrograms,
  newPrograms,
} from "../workspace/git-programs.js";
import { removeLeftLocks } from "../workspace/left-locks.js";
import { takeStart } from "../workspace/start.js";
import type { RunContext } from "./spec.js";

/** Holds the folder of a run open, so that another folder at its path is not mistaken for it. */
export function holdGround(workspace: string) {
  const held = openSync(workspace, "r");
  const { dev, ino } = fstatSync(held);
  const isThere = (): boolean => {
    const now = statSync(workspace, { throwIfNoEntry: false });
    return now?.dev === dev && now.ino === ino;
  };
  const check = (): void => {
    if (isThere()) return;
    const what = existsSync(workspace) ? "is another folder now" : "is gone";
    throw new RalphError(`the workspace ${workspace} ${what}: somebody moved, removed or unmounted it`, {
      code: "workspace_gone",
      exitCode: 1,
      hint: "restore it, then continue with: ralph resume",
    });
  };
  /** The same recipe, which throws when the folder is not there. */
  const under = (recipe: Recipe): Recipe => ({
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
    close: () => (isThere() ? recipe.close?.() : undefined),
  });
  return { isThere, under, release: () => closeSync(held) };
}

/** What a run remembers of git from its start, also after a resume. */
export interface RunGit {
  /** The repository at the start; undefined: there is none. */
  start: Start | undefined;
  /** Finds programs that git would run now and did not run then; undefined: the run makes no commits. */
  newPrograms: FindNewPrograms | undefined;
  /** Switches off filters that an agent has set up: git would run them whenever ralph reads files. */
  watchFilters(): Promise<void>;
}

export async function gitOfRun(context: RunContext): Promise<RunGit> {
  const { workspace, recipe } = context.spec;
  const who = (await recipeRow(recipe)).commits?.(recipe);
  const root = repositoryRoot(workspace);
  const isContinued = programsBefore(context.folder) !== undefined;
  const look = who && (await rememberPrograms(context));
  const watchFilters = async (): Promise<void> => {
    if (look !== undefined) withholdFilters(root ?? workspace, (await look()).settings);
  };
  if (isContinued) await watchFilters();
  const start = root === undefined ? undefined : await startOf(root, context, who === "ralph");
  return { start, newPrograms: look, watchFilters };
}

async function startOf(root: string, context: RunContext, commits: boolean): Promise<Start> {
  const { path } = context.folder;
  const [file, excludes] = [join(path, "git-start.json"), join(path, "git-excludes")];
  const known = readJson(file);
  // A file that cannot be read is made again.
  if (has(known, { root: "string", settings: "array" })) return { ...(known as unknown as Start), excludes };
  const { start, ignored } = await takeStart(root, excludes, commits, context.gitSettings);
  writeAlone(excludes, ignored, 0o600);
  writeAlone(file, JSON.stringify(start), 0o600);
  return start;
}

/** Records what git runs in the workspace when a run begins; the result finds what is new since then. */
async function rememberPrograms({ spec, folder, gitSettings }: RunContext): Promise<FindNewPrograms> {
  const known = programsBefore(folder);
  const before = known ?? (await gitPrograms(spec.workspace, gitSettings));
  if (known === undefined) writeAlone(programsFile(folder), JSON.stringify(before), 0o600);
  return () => newPrograms(spec.workspace, before);
}

/** undefined: the run has no such record. If the record cannot be read, everything counts as new. */
export function programsBefore(folder: RunFolder): GitPrograms | undefined {
  const file = programsFile(folder);
  if (!existsSync(file)) return undefined;
  const known = readJson(file);
  const isKnown = has(known, { hooks: "string", settings: "object" });
  return isKnown ? (known as unknown as GitPrograms) : { hooks: "", settings: {} };
}

function programsFile({ path }: RunFolder): string {
  return join(path, "git-programs.json");
}

const STARTS = new Set<LoopEvent["type"]>(["agent.started", "check.started"]);
const ENDS = new Set<LoopEvent["type"]>(["run.resumed", "agent.finished", "iteration.finished"]);

/**
 * Removes the locks that calls leave in the repository, before the loop goes on. The result yields each event of the
 * loop, and an event for what it removed. `cutOff`: when a call began that the end of an earlier process cut off.
 */
export function leftLockRemover(
  workspace: string,
  state: RunState,
  cutOff: number | undefined,
  isLane: boolean,
) {
  // An agent could make `.git` lead to another repository; one that it has made itself counts. Another lane may
  // hold a lock in the folder that all lanes share.
  const known = gitFolders(workspace).slice(isLane ? 1 : 0);
  const madeHere = (): string[] => gitFolders(workspace).filter((one) => one === join(workspace, ".git"));
  /** When the first call began after which a lock may be left. */
  let since = cutOff;
  let mayBeLeft = since !== undefined;
  function* removed(): Generator<LoopEvent> {
    if (since === undefined || !mayBeLeft) return;
    const { removed: files, isHeld } = removeLeftLocks(known.length > 0 ? known : madeHere(), since);
    mayBeLeft = isHeld;
    if (files.length === 0) return;
    const envelope = { v: 1 as const, ts: new Date().toISOString(), run: state.run };
    yield { ...envelope, type: "locks.removed", iteration: state.iterations + 1, files };
  }
  return function* around(event: LoopEvent): Generator<LoopEvent> {
    const { type, ts } = event;
    if (type === "run.finished") yield* removed();
    yield event;
    if (STARTS.has(type)) {
      since ??= Date.parse(ts);
      mayBeLeft = true;
    }
    // After these events no agent, check or command of ralph needs a lock of git: any that is there was left.
    if (ENDS.has(type) || ("passed" in event && !event.passed)) yield* removed();
    if (type === "iteration.finished" && !mayBeLeft) since = undefined;
  };
}
