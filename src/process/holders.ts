import { spawnSync } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { orElse } from "../errors.js";
import { pidsIn, ps, readOrNothing } from "./table.js";

/** An absolute path: an agent could put its own program on PATH. */
const LSOF = "/usr/sbin/lsof";

/** These daemons stay in a repository and hold no lock. */
const DAEMONS = /(?:fsmonitor|credential-cache)--daemon/;

/** The files that a process has open; all of them while another git runs: it closes locks that it holds. */
export function heldFiles(files: string[], folders: string[]): string[] {
  if (process.platform !== "linux") {
    if (/(?:^|\/)git(?:-\S*)?\s*$/m.test(ps("-A", "-o", "comm="))) return files;
    return files.filter((file) => spawnSync(LSOF, ["-t", "--", file], { encoding: "utf8" }).stdout !== "");
  }
  const pids = pidsIn();
  if (pids.some((pid) => isGitIn(pid, folders))) return files;
  const open = new Set(
    pids.flatMap((pid) =>
      // None if the process has exited, or belongs to another user.
      orElse(() => readdirSync(`/proc/${pid}/fd`), []).map((name) => linkAt(`/proc/${pid}/fd/${name}`)),
    ),
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

function linkAt(path: string): string {
  return orElse(() => readlinkSync(path), "");
}
