import {
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsed } from "../elapsed.js";
import { RalphError, systemErrorCode } from "../errors.js";
import { isRunning, startTimeOf } from "../process/table.js";
import { has, isMade, makePrivateFolder } from "./files.js";

export interface LockHolder {
  pid: number;
  /** A pid that is used again has another start time. */
  startTime: string;
  run: string;
  workspace: string;
}

const HOLDER = { pid: "number", startTime: "string", run: "string", workspace: "string" } as const;
const NOBODY: LockHolder = { pid: 0, startTime: "", run: "", workspace: "" };

/** What a lock is about: a folder, or a run that shares its folder with others. */
interface LockScope {
  workspace: string;
  sharedBy?: string | undefined;
}

/** One loop per workspace: two agents in one folder destroy each other's work. */
export function acquireLock(home: string, scope: LockScope, run: string) {
  makePrivateFolder(join(home, "locks"));
  return acquire(lockPath(home, scope), run, scope.workspace);
}

/** The living loop of this workspace, or of the run that shares it, if there is one. */
export function lockHolder(home: string, scope: LockScope): LockHolder | undefined {
  return living(lockPath(home, scope));
}

/** Every loop that is running now. */
export function livingLoops(home: string): LockHolder[] {
  const locks = join(home, "locks");
  if (!statSync(locks, { throwIfNoEntry: false })) return [];
  const files = readdirSync(locks).filter((name) => name.endsWith(".json"));
  return files.flatMap((name) => living(join(locks, name)) ?? []);
}

/** A turn takes milliseconds: a process that has it longer than this is stopped. */
const TURN_MS = 10_000;
const RETRY_MS = 5;
const LONG_TURN_MS = 2 * 60_000;

/** Does something that only one process may do at a time; waits until it can. */
export function inTurn<Result>(path: string, action: () => Result): Result {
  const until = elapsed() + TURN_MS;
  do {
    const release = takeTurn(path);
    if (release === undefined) continue;
    try {
      return action();
    } finally {
      release();
    }
  } while (elapsed() < until);
  throw heldBy(path);
}

/** undefined when it is somebody else's turn, after a short wait. */
function takeTurn(path: string): (() => void) | undefined {
  try {
    return acquire(path, "", "").release;
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    return undefined;
  }
}

/** As `inTurn`, for what takes longer: one process at a time works on what the file stands for. */
export async function whenFree<Result>(
  path: string,
  action: () => Promise<Result>,
  waitMs = LONG_TURN_MS,
): Promise<Result> {
  const until = elapsed() + waitMs;
  for (;;) {
    const release = takeTurn(path);
    if (release !== undefined) return await action().finally(release);
    if (elapsed() > until) throw heldBy(path);
    await sleep(RETRY_MS * 10);
  }
}

function heldBy(path: string): RalphError {
  return new RalphError(`pid ${readHolder(path)?.pid} holds ${path} and does not release it`, {
    code: "turn_held",
    exitCode: 1,
    hint: "end that process; if it is not ralph's, remove the file",
  });
}

function living(path: string): LockHolder | undefined {
  const holder = readHolder(path);
  return holder !== undefined && isRunning(holder.pid, holder.startTime) ? holder : undefined;
}

function lockPath(home: string, { workspace, sharedBy }: LockScope): string {
  if (sharedBy !== undefined) return join(home, "locks", `run-${sharedBy}.json`);
  // The folder itself, by whatever path it was reached.
  const { dev, ino } = statSync(workspace);
  return join(home, "locks", `${dev}-${ino}.json`);
}

/** `stale`: the dead holder of the lock that was found, if there was one. */
function acquire(path: string, run: string, workspace: string) {
  const mine: LockHolder = { pid: process.pid, startTime: startTimeOf(process.pid) ?? "", run, workspace };
  const temporary = `${path}.${process.pid}.tmp`;
  const write = (): void => writeFileSync(temporary, JSON.stringify(mine), { mode: 0o600 });
  const release = (): void => {
    if (isSame(readHolder(path), mine)) unlinkSync(path);
  };
  for (;;) {
    write();
    if (isLinked(temporary, path)) return { stale: undefined, release };
    const holder = readHolder(path);
    if (holder === undefined) continue;
    if (isRunning(holder.pid, holder.startTime)) {
      const who = `(pid ${holder.pid}, run ${holder.run})`;
      throw new RalphError(`another loop ${who} is running in ${holder.workspace}`, {
        code: "workspace_locked",
        hint: "wait for it, stop it with Ctrl+C or kill, or work in another checkout: git worktree add",
      });
    }
    // Of several that find a dead lock one at a time replaces it, and only while it is still the dead one's.
    const done = takeTurn(`${path}.after-${holder.pid}-${holder.startTime.replace(/\W/g, "")}`);
    try {
      if (done === undefined || !isSame(readHolder(path), holder)) continue;
      write();
      renameSync(temporary, path);
      return { stale: holder === NOBODY ? undefined : holder, release };
    } finally {
      done?.();
    }
  }
}

/** A link to a finished file appears whole or not at all, and only one process can make it. */
function isLinked(temporary: string, path: string): boolean {
  try {
    return isMade(() => linkSync(temporary, path));
  } finally {
    unlinkSync(temporary);
  }
}

/** undefined when there is none. A file that cannot be understood belongs to nobody who lives. */
function readHolder(path: string): LockHolder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return has(value, HOLDER) ? (value as unknown as LockHolder) : NOBODY;
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    if (error instanceof SyntaxError) return NOBODY;
    throw error;
  }
}

function isSame(a: LockHolder | undefined, b: LockHolder): boolean {
  return a !== undefined && a.pid === b.pid && a.startTime === b.startTime && a.run === b.run;
}
