import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { RalphError, systemErrorCode } from "../errors.js";
import { isRunning, startTimeOf } from "../process/table.js";
import { makePrivateFolder } from "./files.js";
import { has } from "./shape.js";

export interface LockHolder {
  pid: number;
  /** A pid that is used again has another start time. */
  startTime: string;
  run: string;
  workspace: string;
}

export interface Lock {
  /** Whose lock was found and was dead, if there was one. */
  stale: LockHolder | undefined;
  release(): void;
}

/** What a lock is about: a folder, or a run that shares its folder with others. */
export interface LockScope {
  workspace: string;
  sharedBy?: string | undefined;
}

/** One loop per workspace: two agents in one folder destroy each other's work. */
export function acquireLock(home: string, scope: LockScope, run: string): Lock {
  makePrivateFolder(join(home, "locks"));
  return acquire(lockPath(home, scope), holderFor(run, scope.workspace));
}

/** The living loop of this workspace, or of the run that shares it, if there is one. */
export function lockHolder(home: string, scope: LockScope): LockHolder | undefined {
  return living(lockPath(home, scope));
}

/** Every loop that is at work now. */
export function livingLoops(home: string): LockHolder[] {
  const locks = join(home, "locks");
  if (!existsSync(locks)) return [];
  const files = readdirSync(locks).filter((name) => name.endsWith(".json"));
  return files.flatMap((name) => living(join(locks, name)) ?? []);
}

/** Does something that nobody else may do at the same moment, and waits for whoever does it. */
export function inTurn<Result>(path: string, action: () => Result): Result {
  const mine = holderFor("", "");
  const until = performance.now() + TURN_MS;
  for (;;) {
    const turn = takeTurn(path, mine);
    if (turn !== undefined) {
      try {
        return action();
      } finally {
        turn.release();
      }
    }
    if (performance.now() < until) continue;
    throw new RalphError(`pid ${readHolder(path)?.pid} holds ${path} and does not let go`, {
      code: "turn_held",
      exitCode: 1,
      hint: "end or continue that process; if it is none of ralph's, remove the file",
    });
  }
}

/** A turn takes milliseconds: whoever has it longer than this has been stopped. */
const TURN_MS = 10_000;

function living(path: string): LockHolder | undefined {
  const holder = readHolder(path);
  return holder !== undefined && isRunning(holder.pid, holder.startTime) ? holder : undefined;
}

function holderFor(run: string, workspace: string): LockHolder {
  return { pid: process.pid, startTime: startTimeOf(process.pid) ?? "", run, workspace };
}

function lockPath(home: string, { workspace, sharedBy }: LockScope): string {
  if (sharedBy !== undefined) return join(home, "locks", `run-${sharedBy}.json`);
  // The folder itself, by whatever path it was reached.
  const { dev, ino } = statSync(workspace);
  return join(home, "locks", `${dev}-${ino}.json`);
}

const RETRY_MS = 5;

function acquire(path: string, mine: LockHolder): Lock {
  const release = (): void => {
    if (isSame(readHolder(path), mine)) rmSync(path, { force: true });
  };
  for (;;) {
    if (create(path, mine)) return { stale: undefined, release };
    const holder = readHolder(path);
    if (holder === undefined) continue;
    const { pid, startTime, run, workspace } = holder;
    if (isRunning(pid, startTime)) {
      throw new RalphError(`another loop (pid ${pid}, run ${run}) is at work in ${workspace}`, {
        code: "workspace_locked",
        hint: "wait for it, stop it with Ctrl+C or kill, or work in another checkout: git worktree add",
      });
    }
    if (replace(path, holder, mine)) return { stale: holder === NOBODY ? undefined : holder, release };
  }
}

/**
 * Takes over the lock of somebody dead. Of several who find it, one at a time may try, and only while it is
 * still that dead one's: so nobody replaces a lock that was taken over a moment ago.
 */
function replace(path: string, dead: LockHolder, mine: LockHolder): boolean {
  const turn = takeTurn(`${path}.after-${dead.pid}-${dead.startTime.replace(/\W/g, "")}`, mine);
  if (turn === undefined) return false;
  try {
    if (!isSame(readHolder(path), dead)) return false;
    renameSync(temporaryFile(path, mine), path);
    return true;
  } finally {
    turn.release();
  }
}

/** undefined when it is somebody else's turn: it takes them a moment. */
function takeTurn(path: string, mine: LockHolder): Lock | undefined {
  try {
    return acquire(path, mine);
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    return undefined;
  }
}

/** A link to a finished file appears whole or not at all, and only one process can make it. */
function create(path: string, holder: LockHolder): boolean {
  const temporary = temporaryFile(path, holder);
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function temporaryFile(path: string, holder: LockHolder): string {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, JSON.stringify(holder), { mode: 0o600 });
  return temporary;
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

const HOLDER = { pid: "number", startTime: "string", run: "string", workspace: "string" } as const;
const NOBODY: LockHolder = { pid: 0, startTime: "", run: "", workspace: "" };

function isSame(a: LockHolder | undefined, b: LockHolder): boolean {
  return a !== undefined && a.pid === b.pid && a.startTime === b.startTime && a.run === b.run;
}
