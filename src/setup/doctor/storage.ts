import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describeSystemError, RalphError } from "../../errors.js";
import { unwritableHome } from "../../records/home.js";
import { checkWorkspace, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import type { DoctorContext } from "./context.js";
import type { Finding } from "./finding.js";
import { inTime } from "./probe.js";

/** What came of writing a file to a folder, or to the nearest one above it that is there. */
export interface Trial {
  error?: unknown;
  /** How far the time of the file is from the clock; undefined when there was no file. */
  skewMs?: number;
  freeBytes: number;
}

/** Leaves nothing behind. */
export async function tryToWrite(folder: string): Promise<Trial> {
  const place = nearest(folder);
  try {
    const { bavail, bsize } = await inTime(statfs(place));
    return { freeBytes: bavail * bsize, skewMs: await inTime(writtenFile(place)) };
  } catch (error) {
    return { error, freeBytes: 0 };
  }
}

export function projectPlace(workspace: string): string {
  const own = join(workspace, RUNTIME_FOLDER);
  return statSync(own, { throwIfNoEntry: false })?.isDirectory() ? own : workspace;
}

async function writtenFile(place: string): Promise<number> {
  const folder = await mkdtemp(join(place, ".ralph-doctor-"));
  try {
    const before = Date.now();
    await writeFile(join(folder, "file"), "x");
    const { mtimeMs } = await stat(join(folder, "file"));
    return Math.max(before - mtimeMs, mtimeMs - Date.now(), 0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

export function recordsFinding({ records }: DoctorContext, trial: Trial): Finding {
  if (trial.error === undefined) return roomFinding("records", records, trial);
  const { message, hint } = unwritableHome(records, trial.error);
  return { name: "records", status: "problem", message, path: records, ...(hint && { fix: hint }) };
}

export function projectFinding({ workspace }: DoctorContext, trial: Trial): Finding {
  const base = { name: "project", status: "problem" as const, path: workspace };
  try {
    checkWorkspace(workspace);
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    return { ...base, message: error.message, ...(error.hint && { fix: error.hint }) };
  }
  if (trial.error === undefined) return roomFinding("project", workspace, trial);
  const message = `cannot write to ${workspace}: ${describeSystemError(trial.error)}`;
  return { ...base, message, fix: "make it writable, or run ralph in another checkout" };
}

const GB = 1e9;
const MB = 1e6;

export function roomFinding(name: string, path: string, { freeBytes }: Trial): Finding {
  const free = freeBytes < GB ? `${Math.floor(freeBytes / MB)} MB` : `${(freeBytes / GB).toFixed(1)} GB`;
  const base = { name, message: `${path}, ${free} free`, path, freeBytes };
  if (freeBytes >= GB) return { ...base, status: "ok" };
  return { ...base, status: freeBytes < 100 * MB ? "problem" : "warning", fix: "make room on that disk" };
}
