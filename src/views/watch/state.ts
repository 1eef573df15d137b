import { groupOf } from "../../records/result.js";
import type { LoopRow } from "../../workers/worker.js";
import type { Color } from "../figures.js";
import type { Live } from "./live.js";

interface ResultGroup {
  /** Running rows come first, then those that wait for a person, then those that have ended. */
  urgency: number;
  color: Color;
}

/** Results, in the order of their filters. */
const GROUPS: Record<string, ResultGroup> = {
  running: { urgency: 0, color: "green" },
  pausing: { urgency: 0, color: "yellow" },
  paused: { urgency: 0, color: "yellow" },
  waiting: { urgency: 0, color: "yellow" },
  blocked: { urgency: 1, color: "magenta" },
  "cut off": { urgency: 1, color: "red" },
  unknown: { urgency: 1, color: "red" },
  failed: { urgency: 2, color: "red" },
  stuck: { urgency: 2, color: "red" },
  violation: { urgency: 2, color: "red" },
  error: { urgency: 2, color: "red" },
  stopped: { urgency: 2, color: "yellow" },
  interrupted: { urgency: 2, color: "yellow" },
  done: { urgency: 2, color: "green" },
};

export const GROUP_NAMES = Object.keys(GROUPS);

/** A later release may have other words. */
export function groupRow({ result }: LoopRow): ResultGroup {
  return GROUPS[groupOf(result)] ?? { urgency: 2, color: "yellow" };
}

/** All that the screen keeps from one moment to the next. */
export interface WatchState {
  /** undefined: they were not read yet. */
  rows: LoopRow[] | undefined;
  /** Which row is selected, and its position, in case it goes away. */
  selected: { id: string; index: number } | undefined;
  filter: { status: string | undefined; text: string };
  mode:
    | { kind: "list" | "filter" | "help" }
    | { kind: "confirm"; name: string }
    | { kind: "type"; action: TypedAction; name: string; text: string }
    | Page;
  live: Live | undefined;
  message: ScreenMessage | undefined;
  trouble: string | undefined;
}

interface Page {
  kind: "page";
  title: string;
  /** undefined: the live output of the selected row. */
  lines: string[] | undefined;
  /** The first shown line; for live output, the number of lines hidden at the end. */
  at: number;
}

export interface ScreenMessage {
  text: string;
  isError: boolean;
}

const LIST = { kind: "list" } as const;
const NO_FILTER = { status: undefined, text: "" };

export const NOTHING_YET: WatchState = {
  ...{ rows: undefined, selected: undefined, filter: NO_FILTER, mode: LIST, live: undefined },
  ...{ message: undefined, trouble: undefined },
};

/** The rows that pass the filter: active ones first, newest first in each group. */
export function shownRows({ rows = [], filter: { status, text } }: WatchState): LoopRow[] {
  const wanted = text.trim().toLowerCase();
  return rows
    .filter((row) => {
      const words = [row.name, row.result, row.recipe, row.reason ?? "", row.workspace, ...row.tags];
      const isMatch = words.some((word) => word.toLowerCase().includes(wanted));
      return isMatch && (status === undefined || groupOf(row.result) === status);
    })
    .sort(
      (a, b) =>
        groupRow(a).urgency - groupRow(b).urgency ||
        (b.startedAt ?? "").localeCompare(a.startedAt ?? "") ||
        a.name.localeCompare(b.name),
    );
}

/** The selection follows its row; where that is gone, it stays at its position. */
export function selectedIndex(rows: LoopRow[], { selected }: WatchState): number {
  const index = rows.findIndex((row) => idOf(row) === selected?.id);
  return index >= 0 ? index : Math.max(Math.min(selected?.index ?? 0, rows.length - 1), 0);
}

export function selectedRow(state: WatchState): LoopRow | undefined {
  const rows = shownRows(state);
  return rows[selectedIndex(rows, state)];
}

/** The state with the selection moved; by 0: brought to where its row is now. */
export function moved(state: WatchState, by: number): WatchState {
  const rows = shownRows(state);
  const index = Math.max(Math.min(selectedIndex(rows, state) + by, rows.length - 1), 0);
  const row = rows[index];
  return row === undefined ? state : { ...state, selected: { id: idOf(row), index } };
}

function idOf({ kind, name }: LoopRow): string {
  return `${kind} ${name}`;
}

/** Where the selected row is left out, the first one is selected. */
function filtered(state: WatchState, filter: Partial<WatchState["filter"]>): WatchState {
  const selected = state.selected && { ...state.selected, index: 0 };
  return moved({ ...state, selected, filter: { ...state.filter, ...filter } }, 0);
}

type TypedAction = "answer" | "steer";
export type WatchAction = "attach" | "pause" | "resume" | "kill" | TypedAction;
export type WatchPage = "report" | "diff";

/** What a key asks for beyond a new state of the screen; `forget`: draw all of it again. */
export type KeyIntent =
  | ("quit" | "interrupted" | "suspend" | "forget")
  | { action: WatchAction; name: string; text?: string }
  | { page: WatchPage; name: string };

export interface AfterKey {
  state: WatchState;
  intent?: KeyIntent;
}

const EVERYWHERE: Record<string, KeyIntent> = {
  ...{ "ctrl+c": "interrupted", "ctrl+d": "quit", "ctrl+l": "forget", "ctrl+z": "suspend" },
};

/** What a key does: a character, or Node's name for a key. Pasted text is not a command. */
export function press(state: WatchState, key: string, isPasted = false): AfterKey {
  const intent = EVERYWHERE[key];
  if (intent !== undefined) return { state, intent };
  const { mode } = state;
  const listed = { ...state, mode: LIST };
  if (mode.kind === "filter") return { state: typeFilter(state, key) };
  if (mode.kind === "type") return typeWords(state, mode, key, isPasted);
  if (isPasted) return { state };
  if (key === "q") return { state, intent: "quit" };
  if (mode.kind === "list") return command({ ...state, message: undefined }, key);
  if (mode.kind === "page") return { state: turnPage(state, mode, key) };
  if (mode.kind !== "confirm") return { state: listed };
  if (key === "y") return { state: listed, intent: { action: "kill", name: mode.name } };
  return { state: { ...listed, message: { text: `${mode.name} was not killed`, isError: false } } };
}

const [FIRST, LAST] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
const STEPS: Record<string, number> = {
  ...{ j: 1, down: 1, pagedown: 10, G: LAST, end: LAST },
  ...{ k: -1, up: -1, pageup: -10, g: FIRST, home: FIRST },
};
const ACTIONS: Record<string, WatchAction> = {
  ...{ enter: "attach", return: "attach", p: "pause", r: "resume" },
};
const PAGES: Record<string, WatchPage> = { R: "report", d: "diff" };

function command(state: WatchState, key: string): AfterKey {
  const step = STEPS[key];
  if (step !== undefined) return { state: moved(state, step) };
  switch (key) {
    case "f": {
      // The next group that some row is in; after the last of them, all.
      const { status } = state.filter;
      const later = GROUP_NAMES.slice(status === undefined ? 0 : GROUP_NAMES.indexOf(status) + 1);
      const isIn = (name: string) => state.rows?.some((row) => groupOf(row.result) === name);
      return { state: filtered(state, { status: later.find(isIn) }) };
    }
    case "/":
      return { state: { ...state, mode: { kind: "filter" } } };
    case "escape":
      return { state: filtered(state, NO_FILTER) };
    case "?":
      return { state: { ...state, mode: { kind: "help" } } };
    default: {
      const row = selectedRow(state);
      return row === undefined ? { state } : commandFor(state, row, key);
    }
  }
}

function commandFor(state: WatchState, { name, question }: LoopRow, key: string): AfterKey {
  const [action, page] = [ACTIONS[key], PAGES[key]];
  if (action !== undefined) return { state, intent: { action, name } };
  if (page !== undefined) return { state, intent: { page, name } };
  switch (key) {
    case "K":
      return { state: { ...state, mode: { kind: "confirm", name } } };
    case "l":
      return {
        state: { ...state, mode: { kind: "page", title: `log of ${name}`, lines: undefined, at: 0 } },
      };
    case "s":
      return { state: { ...state, mode: { kind: "type", action: "steer", name, text: "" } } };
    case "a": {
      if (question !== null)
        return { state: { ...state, mode: { kind: "type", action: "answer", name, text: "" } } };
      return {
        state: { ...state, message: { text: `${name} has asked nothing; s steers it`, isError: true } },
      };
    }
    default:
      return { state };
  }
}

function typeFilter(state: WatchState, key: string): WatchState {
  const { text } = state.filter;
  if (key === "enter" || key === "return") return { ...state, mode: LIST };
  if (key === "escape") return filtered({ ...state, mode: LIST }, { text: "" });
  if (key === "up" || key === "down") return moved(state, STEPS[key] ?? 0);
  return filtered(state, { text: typed(text, key) });
}

function typed(text: string, key: string): string {
  if (key === "backspace") return [...text].slice(0, -1).join("");
  if (key === "ctrl+u") return "";
  return [...key].length === 1 ? text + key : text;
}

/** An answer, or words for the next iteration. A pasted end of a line sends nothing. */
function typeWords(
  state: WatchState,
  mode: WatchState["mode"] & { kind: "type" },
  key: string,
  isPasted: boolean,
): AfterKey {
  const { action, name, text } = mode;
  const isEnter = key === "enter" || key === "return";
  if (isEnter && isPasted) return { state: { ...state, mode: { ...mode, text: `${text} ` } } };
  if (key === "escape" || (isEnter && text.trim() === "")) return { state: { ...state, mode: LIST } };
  if (isEnter) return { state: { ...state, mode: LIST }, intent: { action, name, text } };
  return { state: { ...state, mode: { ...mode, text: typed(text, key) } } };
}

function turnPage(state: WatchState, mode: Page, key: string): WatchState {
  const step = STEPS[key];
  if (step === undefined) return key === "escape" || key === "l" ? { ...state, mode: LIST } : state;
  const isLive = mode.lines === undefined;
  const last = Math.max((mode.lines ?? state.live?.lines ?? []).length - 1, 0);
  const at = Math.max(0, Math.min(mode.at + (isLive ? -step : step), last));
  return { ...state, mode: { ...mode, at } };
}
