import { spawnSync } from "node:child_process";
import { existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from "node:fs";
import { orElse, systemErrorCode } from "../errors.js";

export interface ProcessEntry {
  pid: number;
  ppid: number;
  group: number;
  session: number;
  /** Differs if another process reuses the pid. */
  startTime: string;
  cpuMs: number;
}

/** A range of pids, both ends included. */
export interface PidRange {
  from: number;
  to: number;
}

const ALL: PidRange = { from: 0, to: Number.POSITIVE_INFINITY };
const IS_LINUX = process.platform === "linux";

/** Every living process on this machine, or in a range of pids. Zombies do not count. */
export function processTable(pids = ALL): ProcessEntry[] {
  return IS_LINUX ? pidsIn(pids).flatMap((pid) => linuxEntry(pid) ?? []) : psTable();
}

/** When the process started; undefined if no process has this pid. */
export function startTimeOf(pid: number): string | undefined {
  if (IS_LINUX) return linuxEntry(pid)?.startTime;
  return ps("-o", "lstart=", "-p", String(pid)).trim() || undefined;
}

/** Whether this very process still runs: a reused pid or a zombie does not count. */
export function isRunning(pid: number, startTime: string): boolean {
  const now = startTimeOf(pid);
  if (now !== undefined) return startTime === "" || now === startTime;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // It belongs to another user, and this user may not read about it.
    return pid > 0 && systemErrorCode(error) === "EPERM";
  }
}

/** Environments by pid, to find children that left their group and their parent. */
export function environments(pids = ALL): Map<number, string> {
  if (IS_LINUX) return new Map(pidsIn(pids).map((pid) => [pid, readOrNothing(`/proc/${pid}/environ`)]));
  // A pid, a command and its variables.
  const lines = ps("-A", "-E", "-ww", "-o", "pid=,command=").split("\n");
  return new Map(lines.map((line) => [Number.parseInt(line, 10), line]));
}

const GAP = IS_LINUX ? "\0" : " ";

/** The value of a variable in the text of an environment. */
export function variableIn(environment = "", name: string): string | undefined {
  const start = `${GAP}${environment}`.indexOf(`${GAP}${name}=`);
  return start === -1 ? undefined : environment.slice(start + name.length + 1).split(GAP, 1)[0];
}

const KERNEL = 2;

/** Whether a process without an environment is in the middle of `execve`, when it has no arguments either. */
export function isStarting({ pid, ppid }: ProcessEntry): boolean {
  if (pid === KERNEL || ppid === KERNEL) return false;
  return readOrNothing(`/proc/${pid}/cmdline`) === "" || readOrNothing(`/proc/${pid}/environ`) !== "";
}

/** More processes than any machine starts. */
const PIDS_PER_MS = 20;
const SPARE_PIDS = 500;
let pidMax: number | undefined;

/** The pids that the kernel can have assigned since this one; after the highest it starts anew. */
export function pidsSince(pid: number, sinceMs: number): PidRange {
  pidMax ??= Number(readOrNothing("/proc/sys/kernel/pid_max"));
  const to = pid + SPARE_PIDS + sinceMs * PIDS_PER_MS;
  return to < pidMax ? { from: pid, to } : ALL;
}

/** So few pids are quicker to query one by one than through the list of all processes. */
const FEW_PIDS = 32;

/** Whether no process that started since then can be alive. false: unknown. */
export function isNobodyIn(pids: PidRange): boolean {
  if (!IS_LINUX || pids === ALL) return false;
  const newest = newestPid();
  if (newest < pids.from || newest > pids.from + FEW_PIDS) return false;
  for (let pid = pids.from; pid <= newest; pid += 1) if (existsSync(`/proc/${pid}`)) return false;
  // One of them could have started another meanwhile.
  return newestPid() === newest;
}

/** Open for all questions; undefined where the kernel does not say, as in some containers. */
let loads: { file: number | undefined } | undefined;
const line = Buffer.alloc(128);

/** The pid that the kernel assigned last; 0: unknown. */
function newestPid(): number {
  const device = (path: string) => statSync(path, { throwIfNoEntry: false })?.dev;
  loads ??= {
    file: device("/proc/loadavg") === device("/proc") ? openSync("/proc/loadavg", "r") : undefined,
  };
  if (loads.file === undefined) return 0;
  const length = readSync(loads.file, line, 0, line.length, 0);
  return Number(line.toString("latin1", 0, length).split(" ")[4]);
}

function pidsIn({ from, to }: PidRange = ALL): number[] {
  const pids = readdirSync("/proc").map(Number);
  return pids.filter((pid) => pid >= from && pid <= to);
}

let boot: string | undefined;
const MS_PER_TICK = 10;

function linuxEntry(pid: number): ProcessEntry | undefined {
  const stat = readOrNothing(`/proc/${pid}/stat`);
  // The command is in parentheses and may contain spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (stat === "" || fields[0] === "Z" || fields[0] === "X") return undefined;
  // Ticks count from boot, so the same pid and tick can return after the next boot.
  boot ??= readOrNothing("/proc/sys/kernel/random/boot_id").trim();
  const ids = { pid, ppid: Number(fields[1]), group: Number(fields[2]), session: Number(fields[3]) };
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  return { ...ids, startTime: `${fields[19]}@${boot}`, cpuMs };
}

/** A process may exit between the listing and the reading. */
export function readOrNothing(path: string): string {
  return orElse(() => readFileSync(path, "latin1"), "");
}

function psTable(): ProcessEntry[] {
  const lines = ps("-A", "-o", "pid=,ppid=,pgid=,sess=,stat=,time=,lstart=").split("\n");
  return lines.flatMap((line) => {
    const [pid, ppid, group, session, state, time, ...started] = line.trim().split(/\s+/);
    if (state === undefined || state.startsWith("Z")) return [];
    const seconds = (time ?? "").split(":").reduce((total, part) => total * 60 + Number(part), 0);
    const ids = { pid: Number(pid), ppid: Number(ppid), group: Number(group), session: Number(session) };
    return [{ ...ids, startTime: started.join(" "), cpuMs: seconds * 1000 }];
  });
}

/** An absolute path: an agent could put its own program on PATH. */
function ps(...args: string[]): string {
  return spawnSync("/bin/ps", args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }).stdout ?? "";
}

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
