import { statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { linesOf, parseLine } from "../../records/read.js";
import type { RunFolder } from "../../records/runs.js";
import type { Entry, EntryPage } from "../api.js";
import { entryOf } from "./entries.js";

/** Every so many lines the index knows where one begins. */
const STEP = 200;
/** Other requests get their turn after so many lines. */
const BREATH = 5000;
const MOST_LINES = 1000;

/** Where the lines of a journal are: it may have hundreds of thousands, and is only added to. */
interface Index {
  ino: number;
  /** How far it was read, and how many lines that are. */
  end: number;
  lines: number;
  offsets: number[];
  iterations: { iteration: number; line: number }[];
}

const ITERATION = /"type":"iteration\.started"[^}]*?"iteration":(\d+)/;
const TYPE_CHARS = 200;

/** Indexes of the journals that were looked at last: they can be made again at any time. */
const known = new Map<string, Promise<Index>>();
const MOST_KNOWN = 8;

function indexOf({ journal }: RunFolder): Promise<Index> {
  const before = known.get(journal);
  known.delete(journal);
  const now = (before ?? Promise.resolve(undefined)).then((index) => extended(journal, index));
  known.set(journal, now);
  now.catch(() => known.delete(journal));
  const [oldest] = known.keys();
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  return now;
}

async function extended(journal: string, before: Index | undefined): Promise<Index> {
  const { size = 0, ino = 0 } = statSync(journal, { throwIfNoEntry: false }) ?? {};
  // A journal that was repaired is another file.
  const isSame = before !== undefined && before.ino === ino && size >= before.end;
  const index = isSame ? before : { ino, end: 0, lines: 0, offsets: [0], iterations: [] };
  for (const { text, next } of linesOf(journal, index.end)) {
    const found = ITERATION.exec(text.slice(0, TYPE_CHARS));
    const iteration = Number(found?.[1]);
    // One that a crash cut off is begun again.
    if (found !== null && index.iterations.at(-1)?.iteration !== iteration)
      index.iterations.push({ iteration, line: index.lines });
    index.lines += 1;
    index.end = next;
    if (index.lines % STEP === 0) index.offsets.push(next);
    if (index.lines % BREATH === 0) await setImmediate();
  }
  return index;
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
