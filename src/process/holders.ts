import { spawnSync } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { orElse } from "../errors.js";
import { pidsIn, ps, readOrNothing } from "./table.js";

/** By its path: one on PATH could be the work of an agent. */
const LSOF = "/usr/sbin/lsof";

/** They live on in a repository and hold nothing. */
const DAEMONS = /(?:fsmonitor|credential-cache)--daemon/;

/**
 * Those of the files that a living process of this user has open, or all of them while a git that this process did
 * not start is running in one of the folders: git closes a lock that it still holds.
 */
export function heldFiles(files: string[], folders: string[]): string[] {
  if (process.platform !== "linux") {
    if (/(?:^|\/)git(?:-\S*)?\s*$/m.test(ps("-A", "-o", "comm="))) return files;
    return files.filter((file) => spawnSync(LSOF, ["-t", "--", file], { encoding: "utf8" }).stdout !== "");
  }
  const pids = pidsIn();
  if (pids.some((pid) => isGitIn(pid, folders))) return files;
  const open = new Set(
    pids.flatMap((pid) => fileNames(pid).map((name) => linkAt(`/proc/${pid}/fd/${name}`))),
  );
  return files.filter((file) => open.has(file));
}

function isGitIn(pid: number, folders: string[]): boolean {
  const [, name = "", ppid] = /^\d+ \((.*)\) \S (\d+)/s.exec(readOrNothing(`/proc/${pid}/stat`)) ?? [];
  if (!/^git(?:-|$)/.test(name) || Number(ppid) === process.pid) return false;
  const cwd = linkAt(`/proc/${pid}/cwd`);
  if (!folders.some((folder) => `${cwd}/`.startsWith(`${folder}/`))) return false;
  return !DAEMONS.test(readOrNothing(`/proc/${pid}/cmdline`));
}

/** None where it has ended, or is another user's. */
function fileNames(pid: number): string[] {
  return orElse(() => readdirSync(`/proc/${pid}/fd`), []);
}

function linkAt(path: string): string {
  return orElse(() => readlinkSync(path), "");
}
