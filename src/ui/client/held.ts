import type { Entry, EntryPage } from "../api.js";

/** The part of a journal that a page holds. Pure: who comes late and loads on has the same as who was there. */

export interface EntryUpdate {
  run: string;
  /** Where the part of the journal that this tells begins and ends. */
  from: number;
  next: number;
  type: string;
  entry: Entry | null;
}

export interface HeldEntries extends EntryPage {
  /** No entry is missing between the ones held and the ones arriving. */
  reachesEnd: boolean;
}

/** More than this is not kept: what is at the other end goes, and can be loaded again. */
const MOST = 4000;

/** `recent`: what was told while the page was on its way. */
export function begun(found: EntryPage, recent: EntryUpdate[]): HeldEntries {
  return recent.reduce(heard, { ...found, reachesEnd: found.end >= found.total });
}

/** Takes what happens now. */
export function heard(held: HeldEntries, { next, entry }: EntryUpdate): HeldEntries {
  if (next <= held.next) return held;
  if (!held.reachesEnd) return { ...held, total: held.total + 1 };
  const line = held.end;
  const entries = entry === null ? held.entries : [...held.entries, { ...entry, line }];
  return shortened({ ...held, next, entries, end: line + 1, total: line + 1 }, "front");
}

/** Takes a page from before or after what is held. */
export function joined(
  held: HeldEntries,
  found: EntryPage,
  where: "before" | "after",
  recent: EntryUpdate[],
): HeldEntries {
  if (where === "before")
    return shortened({ ...held, first: found.first, entries: [...found.entries, ...held.entries] }, "back");
  const { end, next, total, iterations } = found;
  const entries = [...held.entries, ...found.entries];
  const all = { ...held, end, next, total, iterations, entries, reachesEnd: end >= total };
  return shortened(recent.reduce(heard, all), "front");
}

function shortened(held: HeldEntries, from: "front" | "back"): HeldEntries {
  if (held.entries.length <= MOST) return held;
  if (from === "front") {
    const entries = held.entries.slice(-MOST);
    return { ...held, entries, first: entries[0]?.line ?? held.first };
  }
  const entries = held.entries.slice(0, MOST);
  const { line, next } = entries.at(-1) as Entry;
  return { ...held, entries, end: line + 1, next, reachesEnd: false };
}

export interface StreamBlock extends Entry {
  key: string;
  /** What a tool brought, where it is known. */
  output?: Entry;
}

/** Pieces of a text become one, and a tool gets what it brought. */
export function blocksOf(entries: Entry[]): StreamBlock[] {
  const blocks: StreamBlock[] = [];
  const tools = new Map<string, StreamBlock>();
  for (const entry of entries) {
    const last = blocks.at(-1);
    const tool = entry.kind === "output" ? tools.get(entry.id ?? "") : undefined;
    if (last !== undefined && continues(last, entry)) last.text += entry.text;
    else if (tool !== undefined) tool.output = entry;
    else {
      const block = { ...entry, key: String(entry.next) };
      blocks.push(block);
      if (entry.kind === "tool" && entry.id !== undefined) tools.set(entry.id, block);
    }
  }
  return blocks;
}

function continues(last: Entry, { kind, delta, message, lane }: Entry): boolean {
  const isPiece = delta === true && last.delta === true;
  return isPiece && kind === last.kind && message === last.message && lane === last.lane;
}
