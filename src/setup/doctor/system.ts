import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describeSystemError } from "../../errors.js";
import { unwritableHome } from "../../records/home.js";
import { checkWorkspace, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import {
  asRefusal,
  type DoctorContext,
  type DoctorFinding,
  installCommand,
  programPath,
  refused,
} from "./context.js";
import { askVersion, inTime } from "./probe.js";

/** Node, tmux, the disks and the clock. */
export async function examineSystem(context: DoctorContext): Promise<DoctorFinding[]> {
  const own = join(context.workspace, RUNTIME_FOLDER);
  const isThere = statSync(own, { throwIfNoEntry: false })?.isDirectory();
  const [tmux, records, project] = await Promise.all([
    tmuxFinding(context),
    // Where the next run is kept: the folder above may be writable when this one is not.
    tryToWrite(`${context.records}/runs`),
    tryToWrite(isThere ? own : context.workspace),
  ]);
  const skews = [records, project].flatMap(({ skewMs }) => skewMs ?? []);
  return [
    nodeFinding(context),
    tmux,
    recordsFinding(context, records),
    projectFinding(context, project),
    clockFinding(context, skews),
  ];
}

export function nodeFinding({ node: { version, path, needed } }: DoctorContext): DoctorFinding {
  const base = { name: "node", version, path };
  const numbersIn = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number);
  const [[major = 0, minor = 0], [neededMajor = 0, neededMinor = 0]] = [
    numbersIn(version),
    numbersIn(needed),
  ];
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor))
    return { ...base, status: "ok", message: `${version} at ${path}` };
  const message = `${version} at ${path} is too old: ralph needs ${needed}`;
  return { ...base, status: "problem", message, fix: "install a newer Node.js: https://nodejs.org" };
}

async function tmuxFinding(context: DoctorContext): Promise<DoctorFinding> {
  const path = programPath(context, "tmux");
  const warning = { name: "tmux", status: "warning" as const, fix: installCommand(context, "tmux") };
  if (path === undefined) {
    const message = "not installed: it keeps a loop alive when the terminal closes";
    return { ...warning, message, installed: false };
  }
  const answer = await askVersion(context, path, "-V");
  const base = { installed: true, path };
  if (answer.status !== "answered") return { ...warning, ...base, message: `tmux -V: ${answer.why}` };
  const { version } = answer;
  return { name: "tmux", ...base, status: "ok", message: `${version} at ${path}`, version };
}

/** What came of writing a file to a folder, or to the nearest one above it that is there. */
export interface Trial {
  error?: unknown;
  /** How far the time of the file is from the clock; undefined when there was no file. */
  skewMs?: number;
  freeBytes: number;
}

/** Leaves nothing behind. */
async function tryToWrite(folder: string): Promise<Trial> {
  const parent = dirname(folder);
  if (!existsSync(folder) && parent !== folder) return tryToWrite(parent);
  try {
    const { bavail, bsize } = await inTime(statfs(folder));
    return { freeBytes: bavail * bsize, skewMs: await inTime(skewOfFile(folder)) };
  } catch (error) {
    return { error, freeBytes: 0 };
  }
}

async function skewOfFile(parent: string): Promise<number> {
  const folder = await mkdtemp(join(parent, ".ralph-doctor-"));
  try {
    const before = Date.now();
    await writeFile(join(folder, "file"), "x");
    const { mtimeMs } = await stat(join(folder, "file"));
    return Math.max(before - mtimeMs, mtimeMs - Date.now(), 0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function recordsFinding({ records: path }: DoctorContext, trial: Trial): DoctorFinding {
  if (trial.error === undefined) return roomFinding("records", path, trial);
  return { ...refused("records", "problem", unwritableHome(path, trial.error)), path };
}

function projectFinding({ workspace: path }: DoctorContext, trial: Trial): DoctorFinding {
  try {
    checkWorkspace(path);
  } catch (error) {
    return { ...refused("project", "problem", asRefusal(error)), path };
  }
  if (trial.error === undefined) return roomFinding("project", path, trial);
  const message = `cannot write to ${path}: ${describeSystemError(trial.error)}`;
  const fix = "make it writable, or run ralph in another checkout";
  return { name: "project", status: "problem", message, path, fix };
}

const GB = 1e9;
const MB = 1e6;

export function roomFinding(name: string, path: string, { freeBytes }: Trial): DoctorFinding {
  const free = freeBytes < GB ? `${Math.floor(freeBytes / MB)} MB` : `${(freeBytes / GB).toFixed(1)} GB`;
  const base = { name, message: `${path}, ${free} free`, path, freeBytes };
  if (freeBytes >= GB) return { ...base, status: "ok" };
  return { ...base, status: freeBytes < 100 * MB ? "problem" : "warning", fix: "make room on that disk" };
}

/** No release of ralph is older. */
const EARLIEST = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
/** Some file systems keep times in steps of two seconds. */
const ALLOWED_SKEW_MS = 5000;

/** Records, limits and changed files depend on the clock. */
export function clockFinding({ now, builtAt }: DoctorContext, skews: number[]): DoctorFinding {
  const base = { name: "clock", fix: "set the clock, for example: timedatectl set-ntp true" };
  const shown = `${now.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  if (now.getTime() < EARLIEST) return { ...base, status: "problem", message: `${shown} cannot be right` };
  if (now.getTime() < builtAt.getTime() - DAY_MS)
    return { ...base, status: "warning", message: `${shown} is before this program was installed` };
  const skewMs = Math.max(0, ...skews);
  const agreement = skews.length === 0 ? "" : ", and file times agree with it";
  if (skewMs <= ALLOWED_SKEW_MS) return { name: "clock", status: "ok", message: `${shown}${agreement}` };
  return {
    name: "clock",
    status: "warning",
    message: `file times are ${Math.round(skewMs / 1000)} s away from the clock, so changed files are miscounted`,
    fix: "set the clocks of this machine and of its file server by NTP",
  };
}
