import { existsSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoopEvent } from "../events.js";
import { linesOf, parseLine } from "./read.js";

export interface FollowedEvent {
  event: LoopEvent;
  /** Where the next line of the journal begins: to go on from there. */
  offset: number;
}

const POLL_MS = 200;
const NO_FILE = { size: 0, ino: undefined };

/**
 * The events of a journal as they are written, until `isOver`. A torn line is waited for, a damaged one passed over.
 * Of a journal that was repaired meanwhile, and so is another file or shorter, what was told is not told again.
 */
export async function* followJournal(
  path: string,
  from: number,
  isOver: () => boolean,
): AsyncGenerator<FollowedEvent> {
  let offset = from;
  let last: string | undefined;
  let file: number | undefined;
  for (;;) {
    const isLastRound = isOver();
    const { size, ino } = statSync(path, { throwIfNoEntry: false }) ?? NO_FILE;
    if (size < offset || ino !== (file ?? ino)) offset = endOf(path, last);
    file = ino;
    for (const { event, text, next } of size === 0 ? [] : eventsFrom(path, offset)) {
      [offset, last] = [next, text];
      yield { event, offset };
    }
    if (isLastRound) return;
    await sleep(POLL_MS);
  }
}

function* eventsFrom(path: string, offset: number) {
  for (const line of linesOf(path, offset)) {
    const event = parseLine(line.text);
    if (event !== undefined) yield { event, ...line };
  }
}

/** Where the line after this one begins. */
function endOf(path: string, line: string | undefined): number {
  let end = 0;
  if (line !== undefined && existsSync(path))
    for (const { text, next } of linesOf(path)) if (text === line) end = next;
  return end;
}
