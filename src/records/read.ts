import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoopEvent } from "../events.js";
import { has, type Kind, refuseSpecialFile } from "./files.js";
import { advanceRun } from "./lanes.js";
import { advance, initialState, type RunState } from "./run-state.js";

const LF = 0x0a;
const BLOCK_BYTES = 256 * 1024;

/**
 * The whole lines of a file from the beginning of one of them on, each with where the next one begins. A last line
 * without LF is torn, or still being written. Line by line: journals of long runs do not fit into memory.
 */
export function* linesOf(path: string, from = 0): Generator<{ text: string; next: number }> {
  if (!existsSync(path)) return;
  const { file } = openPlain(path);
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (let at = from; ; ) {
      const block = readRange(file, at + rest.length, Math.max(BLOCK_BYTES, rest.length));
      if (block.length === 0) return;
      const data = rest.length === 0 ? block : Buffer.concat([rest, block]);
      let start = 0;
      for (let end = data.indexOf(LF); end !== -1; end = data.indexOf(LF, start)) {
        yield { text: data.toString("utf8", start, end), next: at + end + 1 };
        start = end + 1;
      }
      at += start;
      rest = data.subarray(start);
    }
  } finally {
    closeSync(file);
  }
}

/** Every event of a journal. Damaged lines are counted and passed over. */
export function* readEvents(path: string, onUnreadable: () => void): Generator<LoopEvent> {
  for (const { text } of linesOf(path)) {
    const event = parseLine(text);
    if (event === undefined) onUnreadable();
    else yield event;
  }
}

/** undefined: the line is damaged. */
export function parseLine(line: string): LoopEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The last event of a journal, however long it is; undefined where there is none, or none that can be read. */
export function lastEvent(path: string): LoopEvent | undefined {
  for (const { text } of linesFromEnd(path)) return parseLine(text);
  return undefined;
}

export interface JournalReading {
  state: RunState;
  /** Lines that could not be read and were passed over. */
  unreadable: number;
  /** Where the next line of the journal begins. */
  end: number;
}

const CHECKPOINT = '"type":"iteration.finished"';
const AGENT_EVENT = '{"v":1,"type":"agent.event"';

/**
 * The state of a run from its journal. Every finished iteration carries the totals, so that only the first line and
 * what came after the last finished iteration are read, however long the journal is. Most of that is what agents said:
 * only spending counts, and of several in a row the last one, for its time. The others are not parsed.
 */
export function readJournal(path: string, run: string): JournalReading {
  const [first] = linesOf(path);
  if (hasLanes(first?.text)) return readLanes(path, run);
  const lines: string[] = [];
  let [wasTalk, end] = [false, 0];
  for (const { text: line, next } of linesFromEnd(path)) {
    end ||= next;
    const isTalk = isTalkOnly(line);
    if (line !== "" && !(isTalk && wasTalk)) lines.push(line);
    wasTalk = isTalk;
    if (!line.includes(CHECKPOINT) || parseLine(line) === undefined) continue;
    if (first !== undefined) lines.push(first.text);
    break;
  }
  const state = initialState(run);
  const events = lines.reverse().map(parseLine);
  for (const event of events) if (event !== undefined) advance(state, event);
  return { state, unreadable: events.filter((event) => event === undefined).length, end };
}

function hasLanes(line: string | undefined): boolean {
  const begun = line === undefined ? undefined : parseLine(line);
  return begun?.type === "run.started" && begun.parallel !== undefined;
}

function isTalkOnly(line: string): boolean {
  return line.startsWith(AGENT_EVENT) && !line.includes('"usage"') && !line.includes('"costUsd"');
}

/** The same of a run with lanes, each of which has its own last iteration: talk is passed over, and all else read. */
function readLanes(path: string, run: string): JournalReading {
  const state = initialState(run);
  let [unreadable, end] = [0, 0];
  let talk: string | undefined;
  const take = (line: string): void => {
    const event = parseLine(line);
    if (event === undefined) unreadable += 1;
    else advanceRun(state, event);
  };
  for (const { text, next } of linesOf(path)) {
    end = next;
    if (isTalkOnly(text)) talk = text;
    else if (text !== "") take(text);
  }
  // The last word that any agent said tells how long the run was at work.
  if (talk !== undefined) take(talk);
  return { state, unreadable, end };
}

/** The whole lines of a file, the last one first, each with where the one after it begins. */
function* linesFromEnd(path: string): Generator<{ text: string; next: number }> {
  const { file, size } = openPlain(path);
  try {
    let rest: Buffer = Buffer.alloc(0);
    // What follows the last LF is torn.
    let isTorn = true;
    for (let start = size; start > 0; ) {
      const length = Math.min(start, Math.max(BLOCK_BYTES, rest.length));
      start -= length;
      const data = Buffer.concat([readRange(file, start, length), rest]);
      let end = data.length;
      for (let at = data.lastIndexOf(LF); at !== -1; at = end === 0 ? -1 : data.lastIndexOf(LF, end - 1)) {
        if (!isTorn) yield { text: data.toString("utf8", at + 1, end), next: start + end + 1 };
        isTorn = false;
        end = at;
      }
      rest = data.subarray(0, end);
    }
    if (!isTorn) yield { text: rest.toString("utf8"), next: rest.length + 1 };
  } finally {
    closeSync(file);
  }
}

function openPlain(path: string): { file: number; size: number } {
  refuseSpecialFile(path);
  const file = openSync(path, "r");
  return { file, size: fstatSync(file).size };
}

function readRange(file: number, start: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(file, buffer, filled, length - filled, start + filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

export interface FollowedEvent {
  event: LoopEvent;
  /** Where the next line of the journal begins: to go on from there. */
  offset: number;
}

const POLL_MS = 200;

/**
 * The events of a journal as they are written, until `isOver`. A torn line is waited for, a damaged one passed over.
 * A journal that was repaired is another file or shorter: its events are not repeated.
 */
export async function* followJournal(
  path: string,
  from: number,
  isOver: () => boolean,
  everyMs = POLL_MS,
): AsyncGenerator<FollowedEvent> {
  let offset = from;
  let last: string | undefined;
  let file: number | undefined;
  for (;;) {
    const isLastRound = isOver();
    const { size = 0, ino } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (size < offset || ino !== (file ?? ino)) offset = endOf(path, last);
    file = ino;
    for (const { text, next } of linesOf(path, offset)) {
      const event = parseLine(text);
      if (event === undefined) continue;
      [offset, last] = [next, text];
      yield { event, offset };
    }
    if (isLastRound) return;
    await sleep(everyMs);
  }
}

/** Where the line after this one begins. */
function endOf(path: string, line: string | undefined): number {
  let end = 0;
  for (const { text, next } of linesOf(path)) if (text === line) end = next;
  return end;
}

/** What later code relies on. Fields that a later release adds do not matter, nor do events that it adds. */
const FIELDS: Record<LoopEvent["type"], string> = {
  "run.started": "recipe agent workspace limits",
  "run.resumed": "iterations",
  "run.paused": "iterations",
  "iteration.started": "iteration",
  "agent.started": "iteration agent attempt",
  "agent.event": "iteration event",
  "agent.finished": "iteration durationMs costUsd inputTokens outputTokens error finalMessage",
  "check.started": "iteration command",
  "check.finished": "iteration command passed durationMs",
  "baseline.finished": "checks",
  "scm.asked": "iteration spent",
  "scm.finished": "iteration task passed message",
  "gate.finished": "iteration state passed output",
  "state.changed": "iteration from to",
  violation: "iteration what",
  "locks.removed": "iteration files",
  "backoff.started": "iteration seconds",
  "limit.waiting": "iteration until agent",
  "iteration.finished": "iteration passed reason durationMs totals",
  "landing.started": "into tip old new",
  "landing.landed": "into tip old new checks",
  "landing.refused": "into tip reason message",
  "landing.cleaned": "branch",
  "lease.lost": "worker epoch why",
  "run.finished": "success reason iterations durationMs",
  "lane.started": "slot branch worktree base",
  "lane.waiting": "for file",
  "lane.overlaps": "with files",
  "lane.returned": "try reason message target",
  "lane.blocked": "message",
};

/** A field of this name is of the same kind in every event; all others are strings. */
const NAMES: Partial<Record<Kind, string>> = {
  number:
    "iteration iterations epoch attempt slot try durationMs inputTokens outputTokens seconds activeMs consecutiveFailures alike",
  boolean: "passed success before now",
  object: "limits event spent totals",
  array: "checks files",
  "number?": "costUsd",
  "string?": "error",
};
const KINDS = new Map(
  Object.entries(NAMES).flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind as Kind])),
);
const kindsOf = (names: string): Record<string, Kind> =>
  Object.fromEntries(names.split(" ").map((name) => [name, KINDS.get(name) ?? "string"]));
const EVENTS = new Map(Object.entries(FIELDS).map(([type, names]) => [type, kindsOf(names)]));
const TOTALS = kindsOf("costUsd inputTokens outputTokens activeMs consecutiveFailures alike");
const CHECK = kindsOf("command before now");

/** Whether something that was read is an event of this version, whole enough to be used. */
function isEvent(value: unknown): value is LoopEvent {
  if (!has(value, { v: "number", type: "string", ts: "string" }) || value["v"] !== 1) return false;
  const { checks = [], baseline = [], files = [], totals } = value;
  const isWhole = has(value, EVENTS.get(String(value["type"])) ?? {});
  return (
    isWhole &&
    [checks, baseline, files].every(Array.isArray) &&
    [value["type"] === "baseline.finished" ? checks : [], baseline]
      .flat()
      .every((check) => has(check, CHECK)) &&
    (totals === undefined || has(totals, TOTALS))
  );
}
