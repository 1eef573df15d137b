import type { Key } from "./keys.js";
import { filtered, LIST, moved, NO_FILTER, nextStatus, selectedRow, type Watched } from "./watched.js";

export type WatchAction = "attach" | "pause" | "resume" | "kill" | "logs";

/** What a key asks for beyond another look of the screen. */
export type Intent =
  | { type: "quit" | "interrupt" | "suspend" | "redraw" }
  | { type: "act"; action: WatchAction; name: string };

export interface Pressed {
  watched: Watched;
  intent?: Intent;
}

/** What a key does. */
export function press(watched: Watched, key: Key): Pressed {
  const everywhere = typeof key === "string" ? EVERYWHERE[key] : undefined;
  if (everywhere !== undefined) return { watched, intent: everywhere };
  switch (watched.mode.kind) {
    case "confirm":
      return confirm(watched, watched.mode.name, key);
    case "filter":
      return { watched: typeFilter(watched, key) };
    case "help":
      return { watched: { ...watched, mode: LIST } };
    case "list":
      return typeof key === "string" ? command({ ...watched, message: undefined }, key) : { watched };
  }
}

const EVERYWHERE: Record<string, Intent> = {
  "ctrl+c": { type: "interrupt" },
  "ctrl+d": { type: "quit" },
  "ctrl+l": { type: "redraw" },
  "ctrl+z": { type: "suspend" },
};

const STEPS: Record<string, number> = {
  j: 1,
  down: 1,
  k: -1,
  up: -1,
  "page down": 10,
  "page up": -10,
  g: Number.NEGATIVE_INFINITY,
  home: Number.NEGATIVE_INFINITY,
  G: Number.POSITIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
};

const ACTIONS: Record<string, WatchAction> = {
  a: "attach",
  enter: "attach",
  p: "pause",
  r: "resume",
  l: "logs",
};

function command(watched: Watched, key: string): Pressed {
  const step = STEPS[key];
  if (step !== undefined) return { watched: moved(watched, step) };
  const action = ACTIONS[key];
  if (action !== undefined) return act(watched, action);
  switch (key) {
    case "q":
      return { watched, intent: { type: "quit" } };
    case "K":
      return { watched: askToKill(watched) };
    case "f":
      return { watched: filtered(watched, { status: nextStatus(watched) }) };
    case "/":
      return { watched: { ...watched, mode: { kind: "filter" } } };
    case "escape":
      return { watched: filtered(watched, NO_FILTER) };
    case "?":
      return { watched: { ...watched, mode: { kind: "help" } } };
    default:
      return { watched };
  }
}

function act(watched: Watched, action: WatchAction): Pressed {
  const row = selectedRow(watched);
  return row === undefined ? { watched } : { watched, intent: { type: "act", action, name: row.name } };
}

function askToKill(watched: Watched): Watched {
  const row = selectedRow(watched);
  return row === undefined ? watched : { ...watched, mode: { kind: "confirm", name: row.name } };
}

function confirm(watched: Watched, name: string, key: Key): Pressed {
  const answered = { ...watched, mode: LIST };
  if (key === "y") return { watched: answered, intent: { type: "act", action: "kill", name } };
  return { watched: { ...answered, message: { text: `${name} was not killed`, isError: false } } };
}

function typeFilter(watched: Watched, key: Key): Watched {
  const { text } = watched.filter;
  if (typeof key !== "string") return filtered(watched, { text: text + key.pasted });
  switch (key) {
    case "enter":
      return { ...watched, mode: LIST };
    case "escape":
      return filtered({ ...watched, mode: LIST }, { text: "" });
    case "backspace":
      return filtered(watched, { text: [...text].slice(0, -1).join("") });
    case "ctrl+u":
      return filtered(watched, { text: "" });
    case "up":
    case "down":
      return moved(watched, STEPS[key] ?? 0);
    default:
      return [...key].length === 1 ? filtered(watched, { text: text + key }) : watched;
  }
}
