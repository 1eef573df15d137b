import type { Glance, GlanceStatus } from "../../workers/glance.js";

/** All that the screen keeps from one moment to the next. */
export interface Watched {
  /** undefined: nobody has looked yet. */
  rows: Glance[] | undefined;
  /** Which row is selected, and where it stood, in case it goes away. */
  selected: { id: string; index: number } | undefined;
  filter: Filter;
  mode: { kind: "list" | "filter" | "help" } | { kind: "confirm"; name: string };
  message: Message | undefined;
  /** Why nothing new can be seen. */
  trouble: string | undefined;
}

export interface Filter {
  status: GlanceStatus | undefined;
  text: string;
}

export interface Message {
  text: string;
  isError: boolean;
}

export const LIST = { kind: "list" } as const;
export const NO_FILTER: Filter = { status: undefined, text: "" };

export const NOTHING_YET: Watched = {
  rows: undefined,
  selected: undefined,
  filter: NO_FILTER,
  mode: LIST,
  message: undefined,
  trouble: undefined,
};

/** The rows that the filter leaves: what is at work first, and of those alike the newest first. */
export function shownRows({ rows = [], filter }: Watched): Glance[] {
  return rows.filter((row) => isMatch(row, filter)).sort(byUrgency);
}

export function selectedRow(watched: Watched): Glance | undefined {
  const rows = shownRows(watched);
  return rows[indexIn(rows, watched.selected)];
}

/** The selection follows its row; where that is gone, it stays at its place. */
export function indexIn(rows: Glance[], selected: Watched["selected"]): number {
  const index = rows.findIndex((row) => idOf(row) === selected?.id);
  return index >= 0 ? index : Math.max(Math.min(selected?.index ?? 0, rows.length - 1), 0);
}

export function withRows(watched: Watched, rows: Glance[]): Watched {
  return settled({ ...watched, rows, trouble: undefined });
}

export function moved(watched: Watched, by: number): Watched {
  const rows = shownRows(watched);
  const index = Math.max(Math.min(indexIn(rows, watched.selected) + by, rows.length - 1), 0);
  return { ...watched, selected: selectionOf(rows, index) };
}

/** Where the selected row is left out, the first one is selected. */
export function filtered(watched: Watched, filter: Partial<Filter>): Watched {
  const selected = watched.selected && { ...watched.selected, index: 0 };
  return settled({ ...watched, selected, filter: { ...watched.filter, ...filter } });
}

/** The next status that some row has; after the last of them, all. */
export function nextStatus({ rows = [], filter }: Watched): GlanceStatus | undefined {
  const there = STATUSES.filter((status) => rows.some((row) => row.status === status));
  return there.find((status) => filter.status === undefined || rank(status) > rank(filter.status));
}

export const STATUSES: GlanceStatus[] = [
  ...(["running", "paused", "waiting"] as const),
  ...(["crashed", "unknown", "failed", "stopped"] as const),
];

function rank(status: GlanceStatus): number {
  return STATUSES.indexOf(status);
}

function settled(watched: Watched): Watched {
  const rows = shownRows(watched);
  return { ...watched, selected: selectionOf(rows, indexIn(rows, watched.selected)) ?? watched.selected };
}

function selectionOf(rows: Glance[], index: number): Watched["selected"] {
  const row = rows[index];
  return row === undefined ? undefined : { id: idOf(row), index };
}

function idOf({ kind, name }: Glance): string {
  return `${kind} ${name}`;
}

function isMatch(row: Glance, { status, text }: Filter): boolean {
  if (status !== undefined && row.status !== status) return false;
  const words = [row.name, row.status, row.recipe, row.reason ?? "", row.workspace, ...row.tags];
  return words.some((word) => word.toLowerCase().includes(text.trim().toLowerCase()));
}

function byUrgency(a: Glance, b: Glance): number {
  const order = ORDER[a.status] - ORDER[b.status];
  return order || compare(b.startedAt ?? "", a.startedAt ?? "") || compare(a.name, b.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Pausing and resuming moves no row. */
const ORDER: Record<GlanceStatus, number> = {
  running: 0,
  paused: 0,
  waiting: 0,
  crashed: 1,
  unknown: 1,
  failed: 2,
  stopped: 2,
};
