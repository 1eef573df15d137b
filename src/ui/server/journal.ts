import { closeSync, constants, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { orElse } from "../../errors.js";
import { linesOf, parseLine } from "../../records/read.js";
import { RunFolder } from "../../records/runs.js";
import type { Entry, EntryPage, RecordPage } from "../api.js";
import { entryOf } from "./entries.js";

/** Other requests get their turn after so many lines. */
const BREATH = 2000;
const MOST_KNOWN = 8;

/**
 * What is found in a journal: it may have hundreds of thousands of lines, and is only added to, so what was found is
 * kept for the journals that were looked at last, and goes on from where it ended.
 */
export function growing<Found>(
  begun: (run: RunFolder) => Found,
  take: (found: Found, text: string, next: number) => void,
): (run: RunFolder) => Promise<Found> {
  interface JournalReading {
    found: Found;
    ino: number;
    end: number;
  }
  const known = new Map<string, Promise<JournalReading>>();
  const readOn = async (run: RunFolder, before: JournalReading | undefined): Promise<JournalReading> => {
    const { size = 0, ino = 0 } = statSync(run.journal, { throwIfNoEntry: false }) ?? {};
    // A journal that was repaired is another file.
    const isSame = before !== undefined && before.ino === ino && size >= before.end;
    const reading = isSame ? before : { found: begun(run), ino, end: 0 };
    let lines = 0;
    for (const { text, next } of linesOf(run.journal, reading.end)) {
      take(reading.found, text, next);
      reading.end = next;
      lines += 1;
      if (lines % BREATH === 0) await setImmediate();
    }
    return reading;
  };
  return async (run) => {
    const before = known.get(run.path) ?? Promise.resolve(undefined);
    known.delete(run.path);
    const now = before.then((reading) => readOn(run, reading));
    known.set(run.path, now);
    now.catch(() => known.delete(run.path));
    const [oldest] = known.keys();
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    return (await now).found;
  };
}

/** Every so many lines the index knows where one begins. */
const STEP = 200;
const MOST_LINES = 1000;

/** Where the lines of a journal are. */
interface Index {
  lines: number;
  offsets: number[];
  iterations: EntryPage["iterations"];
}

const ITERATION = /"type":"iteration\.started"/;
const TYPE_CHARS = 200;

const indexOf = growing<Index>(
  () => ({ lines: 0, offsets: [0], iterations: [] }),
  (index, text, next) => {
    if (ITERATION.test(text.slice(0, TYPE_CHARS))) begin(index, text);
    index.lines += 1;
    if (index.lines % STEP === 0) index.offsets.push(next);
  },
);

function begin({ iterations, lines: line }: Index, text: string): void {
  const event = parseLine(text);
  if (event?.type !== "iteration.started") return;
  const { iteration, lane } = event;
  // One that a crash cut off is begun again.
  if (iterations.findLast((one) => one.lane === lane)?.iteration === iteration) return;
  iterations.push({ iteration, line, ...(lane !== undefined && { lane }) });
}

/** Lines of a journal from `first` on; of a negative number, from so many before its end. */
export async function entryPage(run: RunFolder, first: number, count: number): Promise<EntryPage> {
  const { lines: total, offsets, iterations } = await indexOf(run);
  const start = Math.min(Math.max(0, first < 0 ? total + first : first), total);
  const most = Math.min(Math.max(1, count), MOST_LINES);
  const entries: Entry[] = [];
  const step = Math.floor(start / STEP);
  let [line, at] = [step * STEP, offsets[step] ?? 0];
  for (const { text, next } of linesOf(run.journal, at)) {
    if (line >= Math.min(start + most, total)) break;
    if (line >= start) entries.push(...entriesIn(text, { line, next }));
    line += 1;
    at = next;
  }
  return { first: start, end: line, total, next: at, entries, iterations };
}

function entriesIn(text: string, at: Pick<Entry, "line" | "next">): Entry[] {
  const event = parseLine(text);
  const words = "a line that cannot be read";
  if (event === undefined)
    return [{ ...at, ts: "", iteration: 0, kind: "note", look: "agent-failed", text: words }];
  const entry = entryOf(event, at);
  return entry === undefined ? [] : [entry];
}

const PART_BYTES = 256 * 1024;

/** The folder of an iteration, or that of the run. The records of a lane are in a folder of its own. */
function folderOf({ home, id }: RunFolder, iteration: number | undefined, lane: string | undefined): string {
  const { path } = new RunFolder(home, id, lane);
  return iteration === undefined ? path : join(path, "iterations", String(iteration).padStart(3, "0"));
}

/** Plain files of its records alone: an agent could have planted a link. */
function filesOf(run: RunFolder, iteration?: number, lane?: string): RecordPage["files"] {
  const folder = folderOf(run, iteration, lane);
  // A link on the way leads elsewhere.
  const isOwn = () => relative(realpathSync(run.home), realpathSync(folder)) === relative(run.home, folder);
  if (!orElse(isOwn, false)) return [];
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const sized = entries.map(({ name }) => ({ name, bytes: statSync(join(folder, name)).size }));
  return sized.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Only a name that the folder itself lists is opened. Without an iteration: the names in the folder of the run. */
export function recordPage(
  run: RunFolder,
  iteration: number | undefined,
  name: string,
  { from: given, lane }: { from?: string; lane?: string },
): RecordPage | undefined {
  const files = filesOf(run, iteration, lane);
  if (name === "" && (files.length === 0 || iteration === undefined))
    return { files, name, bytes: 0, from: 0, output: "" };
  const found = files.find((file) => (name === "" ? isPrompt(file.name) : file.name === name));
  const { name: shown, bytes } = found ?? (name === "" ? files[0] : undefined) ?? {};
  if (shown === undefined || bytes === undefined) return undefined;
  // Of a long file the end tells most, but of a prompt.
  const last = Math.max(0, bytes - PART_BYTES);
  const start = Number(given ?? (isPrompt(shown) ? 0 : last));
  const from = Math.min(Math.max(0, Math.trunc(start) || 0), last);
  const output = partOf(join(folderOf(run, iteration, lane), shown), from);
  return { files, name: shown, bytes, from, output };
}

function isPrompt(name: string): boolean {
  return name.startsWith("prompt");
}

function partOf(path: string, from: number): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const buffer = Buffer.alloc(PART_BYTES);
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, PART_BYTES, from));
  } finally {
    closeSync(file);
  }
}
