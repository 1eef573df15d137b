import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { runFolder } from "../../records/runs.js";
import type { RunRow } from "../api.js";
import { entryOf } from "./entries.js";
import { countsOf } from "./lists.js";
import { ROWS_MS, type RunOverview } from "./overview.js";
import { shownJson } from "./text.js";

/** How often journals are looked at. */
const ENTRY_MS = 60;
/** A page that hears nothing for longer cannot tell whether anything happens. */
const PING_MS = 5000;
/** More runs than that nobody looks at in one browser. */
const MOST_WATCHED = 16;
/** Other requests get their turn after so many events. */
const BREATH = 100;

/** Where the reader of each run stands: `RUN:OFFSET`, several with a space between them. */
export function cursorsIn(text: string): Map<string, number> {
  const found = [...text.matchAll(/([\w-]+):(\d+)/g)].map(([, id = "", at]) => [id, Number(at)] as const);
  return new Map(found.slice(0, MOST_WATCHED));
}

function message(event: string, data: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${shownJson(data)}\n\n`;
}

export interface Listener {
  /** Resolves when the browser takes more. */
  write(text: string): Promise<unknown>;
  signal: AbortSignal;
}

/** Tells a browser what happens: the rows that changed, and the events of the runs that it looks at. */
export async function tellLive(
  home: string,
  overview: RunOverview,
  cursors: Map<string, number>,
  { write, signal }: Listener,
): Promise<void> {
  // Pieces must not run into each other.
  let queue: Promise<unknown> = Promise.resolve();
  const send = (text: string): Promise<unknown> => {
    queue = queue.then(() => write(text));
    return queue;
  };
  await send("retry: 500\n\n");
  await Promise.all([
    tellRows(overview, send, signal),
    ...[...cursors].map(([id]) => tellEvents(home, id, cursors, send, signal)),
  ]);
}

type Send = (text: string) => Promise<unknown>;

async function tellEvents(
  home: string,
  id: string,
  cursors: Map<string, number>,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  let [from, count] = [cursors.get(id) ?? 0, 0];
  const events = runFolder(home, id).follow({ from, isOver: () => signal.aborted, everyMs: ENTRY_MS });
  for await (const { event, offset: next } of events) {
    if (signal.aborted) return;
    // Another journal is in its place: what the page has is not in it.
    if (next <= from) await send(message("again", { run: id }));
    cursors.set(id, next);
    const data = { run: id, from, next, type: event.type, entry: entryOf(event, { next }) ?? null };
    const places = [...cursors].map(([run, at]) => `${run}:${at}`);
    await send(message("entry", data, places.join(" ")));
    from = next;
    count += 1;
    if (count % BREATH === 0) await setImmediate();
  }
}

async function tellRows(overview: RunOverview, send: Send, signal: AbortSignal): Promise<void> {
  let told = overview.latest();
  await send(message("counts", countsOf(told)));
  let pingAt = performance.now();
  while (!signal.aborted) {
    await sleep(ROWS_MS - (performance.now() % ROWS_MS));
    const all = overview.latest();
    if (all !== told) await send(changed(told, all));
    told = all;
    if (performance.now() - pingAt < PING_MS) continue;
    pingAt = performance.now();
    await send(message("ping", {}));
  }
}

let same: { before: RunRow[]; now: RunRow[]; text: string } | undefined;

/** All streams tell the same at the same moment. */
function changed(before: RunRow[], now: RunRow[]): string {
  if (same?.before === before && same.now === now) return same.text;
  const [rows, ids] = [new Set(before), new Set(now.map(({ id }) => id))];
  const gone = before.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
  const text = message("rows", { rows: now.filter((row) => !rows.has(row)), gone, counts: countsOf(now) });
  same = { before, now, text };
  return text;
}
