import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describeSystemError, RalphError, systemErrorCode } from "../errors.js";
import { refuseSpecialFile } from "../plain-file.js";
import { makePrivateFolder } from "./files.js";
import { type JournalReading, readJournal } from "./read-journal.js";

/** Where the files of one run are: `$RALPH_HOME/runs/<id>/`. */
export interface RunFolder {
  id: string;
  path: string;
  spec: string;
  journal: string;
  /** While this file is there, the loop waits before its next iteration. */
  pause: string;
}

export function runFolder(home: string, id: string): RunFolder {
  const path = join(home, "runs", id);
  return {
    id,
    path,
    spec: `${path}/spec.json`,
    journal: `${path}/journal.ndjson`,
    pause: `${path}/paused`,
  };
}

/** Marks everything a run starts, so that what outlived a crash of ralph is found on resume. */
export const RUN_VARIABLE = "RALPH_RUN";

/** Many runs can be started at the same moment: the last digits begin somewhere and count up. */
let lastDigits = Math.floor(Math.random() * 0x1000);

/** Sorts by time, and does not repeat: `20260126-185500-042f9a`. */
export function newRunId(now: Date): string {
  const [date, time] = now.toISOString().split("T") as [string, string];
  const stamp = `${date.replaceAll("-", "")}-${time.slice(0, 8).replaceAll(":", "")}`;
  lastDigits = (lastDigits + 1) % 0x1000;
  return `${stamp}-${time.slice(9, 12)}${lastDigits.toString(16).padStart(3, "0")}`;
}

/** A new run never gets the folder of another one. */
export function createRunFolder(home: string, id: string): RunFolder {
  const folder = runFolder(home, id);
  makePrivateFolder(dirname(folder.path));
  mkdirSync(folder.path, { mode: 0o700 });
  return folder;
}

/** Folder for the records of one iteration, made when it is first asked for. */
export function iterationFolder(folder: RunFolder, iteration: number): string {
  const path = join(folder.path, "iterations", String(iteration).padStart(3, "0"));
  // An agent that could plant a link here would say where ralph writes.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(path);
  // Without the folder of the run there are no records: it is not made again.
  for (const part of [dirname(path), path]) if (!existsSync(part)) mkdirSync(part, { mode: 0o700 });
  return path;
}

export function listRunFolders(home: string): RunFolder[] {
  return possibleRunFolders(home).filter(({ spec }) => existsSync(spec));
}

/** The oldest first. There may be thousands: whether it is a run at all is not looked at. */
export function possibleRunFolders(home: string): RunFolder[] {
  return namesIn(join(home, "runs"))
    .sort()
    .map((id) => runFolder(home, id));
}

/** The newest first. Old runs, of which there may be thousands, are not looked at. */
export function latestRunFolders(home: string, count: number): RunFolder[] {
  const latest: RunFolder[] = [];
  for (const folder of possibleRunFolders(home).reverse()) {
    if (latest.length === count) break;
    if (existsSync(folder.spec)) latest.push(folder);
  }
  return latest;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** undefined until the run has written its first event. */
export function readRun(folder: RunFolder): JournalReading | undefined {
  return existsSync(folder.journal) ? readJournal(folder.journal, folder.id) : undefined;
}

export function readSpecText(folder: RunFolder): string {
  refuseSpecialFile(folder.spec);
  try {
    return readFileSync(folder.spec, "utf8");
  } catch (error) {
    throw new RalphError(`cannot read ${folder.spec}: ${describeSystemError(error)}`, {
      code: "spec_unreadable",
      cause: error,
    });
  }
}
