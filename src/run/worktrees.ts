import { existsSync, statSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import { orElse } from "../errors.js";
import { capture } from "../process/run.js";
import { resultOf } from "../records/result.js";
import type { RunState } from "../records/run-state.js";
import { type RunFolder, runFolder, runsIn } from "../records/runs.js";
import { quietEnvironment } from "../workspace/git.js";
import { commitOf, isPartOf } from "../workspace/landing/merge.js";
import { uncommittedFiles } from "../workspace/uncommitted.js";
import { branchOf, checkoutsOf, locateWorktree } from "../workspace/worktree/worktree.js";

/** A worktree that ralph made beside a repository. */
export interface OwnWorktree {
  path: string;
  /** Short name; null: a checkout that ralph made for itself, which holds no work. */
  branch: string | null;
  commit: string;
  /** Its run; undefined: the records are gone. */
  run: RunFolder | undefined;
  /** How the run ended, or that it is running. */
  state: string;
  /** The branch that holds all of its work; null: ralph knows none. */
  landed: string | null;
  uncommitted: number;
  /** What its setup found in `RALPH_SLOT`, if it is one of several. */
  slot: number | undefined;
  bytes: number | null;
  /** Time of the last event of the run. */
  lastAt: Date;
}

/** The worktrees of the repository of a folder, the oldest first. */
export async function worktreesOf(origin: string): Promise<OwnWorktree[]> {
  const folder = dirname((await locateWorktree(origin, "any")).path);
  const runs = runsByWorktree();
  const found: OwnWorktree[] = [];
  for (const { path, branch: full, commit } of await checkoutsOf(origin)) {
    if (!path.startsWith(folder + sep)) continue;
    const branch = full?.replace("refs/heads/", "") ?? null;
    const run = runs.get(path) ?? runOfLane(relative(folder, path));
    found.push({ path, branch, commit, run, ...(await standingOf(origin, { path, branch, commit, run })) });
  }
  return found.sort((a, b) => a.lastAt.getTime() - b.lastAt.getTime());
}

function runsByWorktree(): Map<string, RunFolder> {
  const runs = new Map<string, RunFolder>();
  for (const run of runsIn().list()) {
    const worktree = specOf(run)?.worktree;
    if (worktree !== undefined) runs.set(worktree, run);
  }
  return runs;
}

/** A record that cannot be read belongs to no worktree; `ralph runs` names it. */
function specOf(run: RunFolder): ReturnType<RunFolder["shown"]> | undefined {
  return orElse(() => run.shown(), undefined);
}

/** `RUN-lanes/US-001`, `RUN-queue` and `landing-RUN` have the id of their run in their names. */
function runOfLane(path: string): RunFolder | undefined {
  const id = /^(?:landing-)?(\d{8}-\d{6}-\w+?)(?:-lanes|-queue)?(?:\/|$)/.exec(path)?.[1];
  return id === undefined
    ? undefined
    : runsIn()
        .list()
        .find((run) => run.id === id);
}

async function standingOf(
  origin: string,
  { path, branch, commit, run }: Pick<OwnWorktree, "path" | "branch" | "commit" | "run">,
): Promise<Pick<OwnWorktree, "state" | "landed" | "uncommitted" | "slot" | "bytes" | "lastAt">> {
  const state = run?.state();
  const spec = run && specOf(run);
  const targets = [spec?.branch, ...Object.keys(state?.landings ?? {}), state?.finished?.branch];
  let landed: string | null = null;
  // The result of a race is the branch of a lane: its own work has not landed anywhere by that.
  for (const target of new Set(targets.filter((one) => one !== undefined).filter((one) => one !== branch)))
    if (landed === null && (await isPartOf(origin, commit, `refs/heads/${target}`))) landed = target;
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  const status = run?.status(state?.status);
  const limits = state?.limits ?? spec?.limits;
  return {
    state:
      status === undefined || limits === undefined ? "unknown" : resultOf(status, state?.finished, limits),
    landed,
    slot: slotOf(state, path),
    uncommitted: isThere ? ((await uncommittedFiles(path)) ?? []).length : 0,
    bytes: isThere ? await sizeOf(path) : null,
    lastAt: new Date(state?.lastSeenAt || spec?.createdAt || statSync(isThere ? path : origin).mtimeMs),
  };
}

/** The number of the lane that has that worktree; the queue has the one after them. */
export function slotOf(state: RunState | undefined, worktree: string | undefined): number | undefined {
  const lane = Object.values(state?.lanes ?? {}).find((one) => one.worktree === worktree);
  return lane?.slot ?? state?.parallel;
}

const SIZE_MS = 20_000;

/** null: finding out takes too long. */
async function sizeOf(path: string): Promise<number | null> {
  const command = { file: "du", args: ["-sk", path], cwd: "/", env: quietEnvironment() };
  const { ok, stdout } = await capture(command, { timeoutMs: SIZE_MS });
  return ok ? Number.parseInt(stdout, 10) * 1024 : null;
}

export const AT_WORK = "its run is active";

/** Whether removing it loses nothing: no run uses it, and another branch has its work. */
export function whyKept({ run, branch, landed, uncommitted }: OwnWorktree): string | undefined {
  if (run !== undefined && run.loop() !== undefined) return AT_WORK;
  // A checkout that ralph made for itself holds no work.
  if (branch === null) return undefined;
  if (landed === null) return "its work is not landed";
  return uncommitted > 0 ? "it holds changes that are not committed" : undefined;
}

interface EndedRun {
  run: RunFolder;
  lastAt: Date;
  /** Without its records, work that is on its branch cannot be landed. */
  isNeeded: boolean;
}

/** The records of ended runs, the oldest first; those of a worker go with `ralph clean NAME`. */
export async function endedRuns(home: string): Promise<EndedRun[]> {
  const ended: EndedRun[] = [];
  for (const { id } of runsIn(home).list()) {
    const run = runFolder(home, id);
    const spec = specOf(run);
    if (spec === undefined || spec.worker !== undefined || run.loop() !== undefined) continue;
    const lastAt = new Date(run.lastEvent()?.ts ?? spec.createdAt);
    ended.push({ run, lastAt, isNeeded: await holdsWork(run, spec) });
  }
  return ended;
}

async function holdsWork(run: RunFolder, spec: ReturnType<RunFolder["shown"]>): Promise<boolean> {
  const { worktree, branch: target = "", origin = spec.workspace } = spec;
  if (worktree !== undefined && existsSync(worktree)) return true;
  const { finished, landings = {} } = run.state() ?? {};
  const own = finished?.branch ?? (worktree && branchOf(worktree));
  const isLanded = Object.values(landings).some(({ type }) => type === "landing.landed");
  if (own === undefined || isLanded || !existsSync(origin)) return false;
  const tip = await commitOf(origin, `refs/heads/${own}`);
  return tip !== undefined && !(await isPartOf(origin, tip, `refs/heads/${target}`));
}
