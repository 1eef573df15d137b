import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** By its path: one on PATH could be the work of an agent. */
const LSOF = "/usr/sbin/lsof";
const PS = "/bin/ps";

/** They live on in a repository and hold nothing. */
const DAEMONS = /(?:fsmonitor|credential-cache)--daemon/;

/**
 * Those of the files that a living process of this user has open, or all of them while a git that this process did
 * not start is at work in one of the folders: git closes a lock that it still holds.
 */
export function heldFiles(files: string[], folders: string[]): string[] {
  if (process.platform !== "linux") return heldByLsof(files);
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  if (pids.some((pid) => isGitIn(pid, folders))) return files;
  const open = new Set(pids.flatMap(openFilesOf));
  return files.filter((file) => open.has(file));
}

function isGitIn(pid: string, folders: string[]): boolean {
  const [, name, ppid] = /^\d+ \((.*)\) \S (\d+)/s.exec(read(`/proc/${pid}/stat`)) ?? [];
  if (name === undefined || !/^git(?:-|$)/.test(name) || Number(ppid) === process.pid) return false;
  const at = linkAt(`/proc/${pid}/cwd`);
  if (at === undefined || !folders.some((folder) => `${at}/`.startsWith(`${folder}/`))) return false;
  return !DAEMONS.test(read(`/proc/${pid}/cmdline`));
}

function openFilesOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((file) => linkAt(`/proc/${pid}/fd/${file}`) ?? []);
  } catch {
    // It has ended, or is another user's.
    return [];
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function heldByLsof(files: string[]): string[] {
  const { stdout: names } = spawnSync(PS, ["-A", "-o", "comm="], { encoding: "utf8" });
  if (/(?:^|\/)git(?:-\S*)?\s*$/m.test(names ?? "")) return files;
  return files.filter((file) => spawnSync(LSOF, ["-t", "--", file], { encoding: "utf8" }).stdout !== "");
}
