import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { systemErrorCode } from "../errors.js";

export interface ProcessEntry {
  pid: number;
  ppid: number;
  group: number;
  session: number;
  /** Changes when the pid is used again for another process. */
  startTime: string;
  cpuMs: number;
}

/** By its path: one on PATH could be the work of an agent. */
const PS = "/bin/ps";

/** Pids that processes can have, the last one included. */
export interface PidRange {
  from: number;
  to: number;
}

const ALL: PidRange = { from: 0, to: Number.POSITIVE_INFINITY };

/** Every live process on this machine, or those in a range of pids; zombies are not alive. */
export function processTable(pids = ALL): ProcessEntry[] {
  return process.platform === "linux" ? linuxTable(pids) : psTable();
}

/** When the process started, or undefined if there is none with this pid. */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform === "linux") return linuxEntry(pid)?.startTime;
  const { stdout } = spawnSync(PS, ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
  return stdout?.trim() || undefined;
}

/** Whether this very process still runs: a pid that is used again is not, nor is a zombie. */
export function isRunning(pid: number, startTime: string): boolean {
  const now = startTimeOf(pid);
  if (now !== undefined) return startTime === "" || now === startTime;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // It is there, belongs to somebody else, and does not let itself be looked at.
    return pid > 0 && systemErrorCode(error) === "EPERM";
  }
}

/** Pids whose environment holds `NAME=value`: it finds children that left their group and their parent. */
export function pidsWithEnvironment(variable: string, pids = ALL): number[] {
  return process.platform === "linux" ? linuxPidsWith(variable, pids) : psPidsWith(variable);
}

const KERNEL = 2;

/** Whether a process of this user has no environment to be read, as one has that is just being started. */
export function hasUnreadable(pids = ALL): boolean {
  if (process.platform !== "linux") return false;
  return linuxEnvironments(pids).some(({ pid, environment }) => {
    const entry = environment === "\0" ? linuxEntry(pid) : undefined;
    return entry !== undefined && pid !== KERNEL && entry.ppid !== KERNEL;
  });
}

/** More processes than any machine starts. */
const PIDS_PER_MS = 20;
const SPARE_PIDS = 500;
let pidMax: number | undefined;

/** The pids that can have been handed out since this one; after the highest they begin anew. */
export function pidsSince(pid: number, sinceMs: number): PidRange {
  pidMax ??= Number(readOrUndefined("/proc/sys/kernel/pid_max") ?? 0);
  const to = pid + SPARE_PIDS + sinceMs * PIDS_PER_MS;
  return to < pidMax ? { from: pid, to } : ALL;
}

/** Values of another variable in the environments that hold `NAME=value`. */
export function valuesBeside(variable: string, name: string): string[] {
  const isLinux = process.platform === "linux";
  const environments = isLinux ? linuxEnvironments().map(({ environment }) => environment) : psEnvironments();
  const [before, after] = isLinux ? ["\0", "\0"] : [" ", " "];
  return environments.flatMap((environment) => {
    if (!environment.includes(`${before}${variable}${after}`)) return [];
    const start = environment.indexOf(`${before}${name}=`);
    return start === -1 ? [] : [environment.slice(start + name.length + 2).split(after, 1)[0] ?? ""];
  });
}

let boot: string | undefined;

/** Ticks count from the start of the machine: the same pid and tick can come again after the next one. */
function bootId(): string {
  boot ??= readOrUndefined("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
  return boot;
}

const MS_PER_TICK = 10;

function linuxTable(pids: PidRange): ProcessEntry[] {
  return procPids(pids).flatMap((pid) => linuxEntry(pid) ?? []);
}

function procPids({ from, to }: PidRange): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid >= from && pid <= to);
}

function linuxEntry(pid: number): ProcessEntry | undefined {
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command stands in parentheses and may hold spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  return {
    pid,
    ppid: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTime: `${fields[19]}@${bootId()}`,
    cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK,
  };
}

function linuxPidsWith(variable: string, pids: PidRange): number[] {
  const holds = linuxEnvironments(pids).filter(({ environment }) => environment.includes(`\0${variable}\0`));
  return holds.map(({ pid }) => pid);
}

/** Before and after each variable is a NUL. */
function linuxEnvironments(pids = ALL): { pid: number; environment: string }[] {
  return procPids(pids).map((pid) => ({
    pid,
    environment: `\0${readOrUndefined(`/proc/${pid}/environ`) ?? ""}`,
  }));
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

function psTable(): ProcessEntry[] {
  const { stdout } = spawnSync(PS, ["-A", "-o", "pid=,ppid=,pgid=,sess=,stat=,time=,lstart="], {
    encoding: "utf8",
  });
  return (stdout ?? "").split("\n").flatMap((line) => {
    const [pid, ppid, group, session, state, time, ...started] = line.trim().split(/\s+/);
    if (pid === undefined || pid === "" || state === undefined || state.startsWith("Z")) return [];
    return [
      {
        pid: Number(pid),
        ppid: Number(ppid),
        group: Number(group),
        session: Number(session),
        startTime: started.join(" "),
        cpuMs: clockToMs(time ?? ""),
      },
    ];
  });
}

function psPidsWith(variable: string): number[] {
  return psEnvironments()
    .filter((line) => line.includes(` ${variable}`))
    .map((line) => Number.parseInt(line, 10));
}

/** A pid, a command and its variables. */
function psEnvironments(): string[] {
  const { stdout } = spawnSync(PS, ["-A", "-E", "-ww", "-o", "pid=,command="], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return (stdout ?? "").split("\n").map((line) => `${line} `);
}

function clockToMs(time: string): number {
  return time.split(":").reduce((total, part) => total * 60 + Number(part), 0) * 1000;
}
