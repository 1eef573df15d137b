import type { Key } from "./keys.js";

/** In the order of their filters, with their urgency (pausing and resuming moves no row) and their colours. */
export const STATUSES = {
  running: { urgency: 0, color: "green" },
  paused: { urgency: 0, color: "yellow" },
  waiting: { urgency: 0, color: "yellow" },
  crashed: { urgency: 1, color: "red" },
  unknown: { urgency: 1, color: "red" },
  failed: { urgency: 2, color: "red" },
  stopped: { urgency: 2, color: "reset" },
} as const;

type WatchStatus = keyof typeof STATUSES;

export const STATUS_NAMES = Object.keys(STATUSES) as WatchStatus[];

/** A worker or a run, as the screen shows it. */
export interface WatchRow {
  kind: "worker" | "run";
  name: string;
  recipe: string;
  status: WatchStatus;
  /** Why it stopped, where it has. */
  reason: string | null;
  iteration: number;
  maxIterations: number;
  startedAt: string | null;
  activeMs: number;
  costUsd: number | null;
  /** The last line that it printed, without colours. */
  lastLine: string;
  workspace: string;
  tags: string[];
}

/** All that the screen keeps from one moment to the next. */
export interface WatchState {
  /** undefined: they were not read yet. */
  rows: WatchRow[] | undefined;
  /** Which row is selected, and its position, in case it goes away. */
  selected: { id: string; index: number } | undefined;
  filter: { status: WatchStatus | undefined; text: string };
  mode: { kind: "list" | "filter" | "help" } | { kind: "confirm"; name: string };
  message: Message | undefined;
  /** Why the rows cannot be read. */
  trouble: string | undefined;
}

export interface Message {
  text: string;
  isError: boolean;
}

const LIST = { kind: "list" } as const;
const NO_FILTER = { status: undefined, text: "" };

export const NOTHING_YET: WatchState = {
  rows: undefined,
  selected: undefined,
  filter: NO_FILTER,
  mode: LIST,
  message: undefined,
  trouble: undefined,
};

/** The rows that the filter leaves: what is at work first, and of those alike the newest first. */
export function shownRows({ rows = [], filter: { status, text } }: WatchState): WatchRow[] {
  const wanted = text.trim().toLowerCase();
  return rows
    .filter((row) => {
      const words = [row.name, row.status, row.recipe, row.reason ?? "", row.workspace, ...row.tags];
      const isMatch = words.some((word) => word.toLowerCase().includes(wanted));
      return isMatch && (status === undefined || row.status === status);
    })
    .sort(
      (a, b) =>
        STATUSES[a.status].urgency - STATUSES[b.status].urgency ||
        compare(b.startedAt ?? "", a.startedAt ?? "") ||
        compare(a.name, b.name),
    );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The selection follows its row; where that is gone, it stays at its position. */
export function selectedIndex(rows: WatchRow[], { selected }: WatchState): number {
  const index = rows.findIndex((row) => idOf(row) === selected?.id);
  return index >= 0 ? index : Math.max(Math.min(selected?.index ?? 0, rows.length - 1), 0);
}

export function selectedRow(state: WatchState): WatchRow | undefined {
  const rows = shownRows(state);
  return rows[selectedIndex(rows, state)];
}

export function withRows(state: WatchState, rows: WatchRow[]): WatchState {
  return moved({ ...state, rows, trouble: undefined }, 0);
}

function moved(state: WatchState, by: number): WatchState {
  const rows = shownRows(state);
  const index = Math.max(Math.min(selectedIndex(rows, state) + by, rows.length - 1), 0);
  const row = rows[index];
  return row === undefined ? state : { ...state, selected: { id: idOf(row), index } };
}

function idOf({ kind, name }: WatchRow): string {
  return `${kind} ${name}`;
}

/** Where the selected row is left out, the first one is selected. */
function filtered(state: WatchState, filter: Partial<WatchState["filter"]>): WatchState {
  const selected = state.selected && { ...state.selected, index: 0 };
  return moved({ ...state, selected, filter: { ...state.filter, ...filter } }, 0);
}

export type WatchAction = "attach" | "pause" | "resume" | "kill" | "logs";

/** What a key asks for beyond another state of the screen; `forget`: that all of it is drawn again. */
export type Intent = "quit" | "interrupted" | "suspend" | "forget" | { action: WatchAction; name: string };

export interface AfterKey {
  state: WatchState;
  intent?: Intent;
}

const EVERYWHERE: Record<string, Intent> = {
  "ctrl+c": "interrupted",
  "ctrl+d": "quit",
  "ctrl+l": "forget",
  "ctrl+z": "suspend",
};

/** What a key does. */
export function press(state: WatchState, key: Key): AfterKey {
  const intent = typeof key === "string" ? EVERYWHERE[key] : undefined;
  if (intent !== undefined) return { state, intent };
  const { mode } = state;
  const listed = { ...state, mode: LIST };
  switch (mode.kind) {
    case "confirm":
      if (key === "y") return { state: listed, intent: { action: "kill", name: mode.name } };
      return { state: { ...listed, message: { text: `${mode.name} was not killed`, isError: false } } };
    case "filter":
      return { state: typeFilter(state, key) };
    case "help":
      return { state: listed };
    case "list":
      return typeof key === "string" ? command({ ...state, message: undefined }, key) : { state };
  }
}

const [FIRST, LAST] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
const STEPS: Record<string, number> = {
  ...{ j: 1, down: 1, pagedown: 10, G: LAST, end: LAST },
  ...{ k: -1, up: -1, pageup: -10, g: FIRST, home: FIRST },
};

const ACTIONS: Record<string, WatchAction> = {
  a: "attach",
  enter: "attach",
  return: "attach",
  p: "pause",
  r: "resume",
  l: "logs",
};

function command(state: WatchState, key: string): AfterKey {
  const step = STEPS[key];
  if (step !== undefined) return { state: moved(state, step) };
  const name = selectedRow(state)?.name;
  const action = ACTIONS[key];
  if (action !== undefined) return { state, ...(name !== undefined && { intent: { action, name } }) };
  switch (key) {
    case "q":
      return { state, intent: "quit" };
    case "K":
      return { state: name === undefined ? state : { ...state, mode: { kind: "confirm", name } } };
    case "f":
      return { state: filtered(state, { status: nextStatus(state) }) };
    case "/":
      return { state: { ...state, mode: { kind: "filter" } } };
    case "escape":
      return { state: filtered(state, NO_FILTER) };
    case "?":
      return { state: { ...state, mode: { kind: "help" } } };
    default:
      return { state };
  }
}

/** The next status that some row has; after the last of them, all. */
function nextStatus({ rows = [], filter: { status } }: WatchState): WatchStatus | undefined {
  const later = STATUS_NAMES.slice(status === undefined ? 0 : STATUS_NAMES.indexOf(status) + 1);
  return later.find((one) => rows.some((row) => row.status === one));
}

function typeFilter(state: WatchState, key: Key): WatchState {
  const { text } = state.filter;
  if (typeof key !== "string") return filtered(state, { text: text + key.pasted });
  switch (key) {
    case "enter":
    case "return":
      return { ...state, mode: LIST };
    case "escape":
      return filtered({ ...state, mode: LIST }, { text: "" });
    case "backspace":
      return filtered(state, { text: [...text].slice(0, -1).join("") });
    case "ctrl+u":
      return filtered(state, { text: "" });
    case "up":
    case "down":
      return moved(state, STEPS[key] ?? 0);
    default:
      return [...key].length === 1 ? filtered(state, { text: text + key }) : state;
  }
}
