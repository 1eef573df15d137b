import { setTimeout as sleep } from "node:timers/promises";
import { runFolder } from "../../records/runs.js";

import { entryOf } from "./entries.js";
import { countsOf } from "./lists.js";
import type { RunOverview } from "./overview.js";
import { shownJson } from "./text.js";

/** How often journals that are looked at, living runs, and all runs are looked at. */
const ENTRY_MS = 60;
const LIVING_MS = 150;
const ALL_MS = 1500;
/** Proxies close what is silent. */
const PING_MS = 15_000;
/** More runs than that nobody looks at in one browser. */
const MOST_WATCHED = 16;

/** Where the reader of each run stands: `RUN:OFFSET`, several with a space between them. */
export function cursorsIn(text: string): Map<string, number> {
  const found = [...text.matchAll(/([\w-]+):(\d+)/g)].map(([, id = "", at]) => [id, Number(at)] as const);
  return new Map(found.slice(0, MOST_WATCHED));
}

function cursorText(cursors: Map<string, number>): string {
  return [...cursors].map(([id, at]) => `${id}:${at}`).join(" ");
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
  const from = cursors.get(id) ?? 0;
  const events = runFolder(home, id).follow({ from, isOver: () => signal.aborted, everyMs: ENTRY_MS });
  for await (const { event, offset } of events) {
    if (signal.aborted) return;
    cursors.set(id, offset);
    const data = { run: id, next: offset, type: event.type, entry: entryOf(event, { next: offset }) ?? null };
    await send(message("entry", data, cursorText(cursors)));
  }
}

async function tellRows(overview: RunOverview, send: Send, signal: AbortSignal): Promise<void> {
  let told = new Map(overview.rows().map((row) => [row.id, row]));
  await send(message("counts", countsOf([...told.values()])));
  let [allAt, pingAt] = [performance.now(), performance.now()];
  while (!signal.aborted) {
    await sleep(LIVING_MS);
    const now = performance.now();
    const isAll = now - allAt >= ALL_MS;
    if (isAll) allAt = now;
    const rows = isAll ? overview.rows() : overview.living();
    const changed = rows.filter((row) => told.get(row.id) !== row);
    const gone = isAll ? [...told.keys()].filter((id) => !rows.some((row) => row.id === id)) : [];
    if (isAll) told = new Map(rows.map((row) => [row.id, row]));
    else for (const row of changed) told.set(row.id, row);
    if (changed.length + gone.length > 0)
      await send(message("rows", { rows: changed, gone, counts: countsOf([...told.values()]) }));
    if (now - pingAt < PING_MS) continue;
    pingAt = now;
    await send(": still here\n\n");
  }
}
