import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RalphError, systemErrorCode } from "../errors.js";
import { isAlive, startTimeOf } from "../process/table.js";

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

/** One loop per workspace: two agents in one folder destroy each other's work. */
export function acquireLock(home: string, workspace: string, run: string): Lock {
  const path = lockPath(home, workspace);
  const mine: LockHolder = { pid: process.pid, startTime: startTimeOf(process.pid) ?? "", run, workspace };
  mkdirSync(join(home, "locks"), { recursive: true });
  let stale: LockHolder | undefined;
  while (!create(path, mine)) {
    const holder = readHolder(path);
    if (holder !== undefined && isHeld(holder)) throw held(holder);
    stale = holder ?? stale;
    setAside(path);
  }
  return {
    stale,
    release() {
      if (readHolder(path)?.run === run) rmSync(path, { force: true });
    },
  };
}

/** The living loop of this workspace, if there is one. */
export function lockHolder(home: string, workspace: string): LockHolder | undefined {
  const holder = readHolder(lockPath(home, workspace));
  return holder !== undefined && isHeld(holder) ? holder : undefined;
}

function lockPath(home: string, workspace: string): string {
  // The folder itself, by whatever path it was reached.
  const { dev, ino } = statSync(workspace);
  return join(home, "locks", `${dev}-${ino}.json`);
}

function isHeld({ pid, startTime }: LockHolder): boolean {
  if (!isAlive(pid)) return false;
  const now = startTimeOf(pid);
  // Without a start time (another user's process on some systems) the pid alone has to do.
  return now === undefined || startTime === "" || now === startTime;
}

/** A link to a finished file appears whole or not at all, and only one process can make it. */
function create(path: string, holder: LockHolder): boolean {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, JSON.stringify(holder), { mode: 0o600 });
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

/** Of several that find the same dead lock, one moves it away; who comes late may have moved a new one. */
function setAside(path: string): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
    const moved = readHolder(aside);
    if (moved !== undefined && isHeld(moved)) linkSync(aside, path);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
  }
  rmSync(aside, { force: true });
}

function readHolder(path: string): LockHolder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isHolder(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isHolder(value: unknown): value is LockHolder {
  return typeof value === "object" && value !== null && "pid" in value && typeof value.pid === "number";
}

function held({ pid, run, workspace }: LockHolder): RalphError {
  return new RalphError(`another loop (pid ${pid}, run ${run}) is at work in ${workspace}`, {
    code: "workspace_locked",
    hint: "wait for it, stop it with Ctrl+C or kill, or work in another checkout: git worktree add",
  });
}
