import { EventEmitter, on } from "node:events";
import { toRalphError } from "../../errors.js";
import type { Redact } from "../../records/redact.js";
import { screenText } from "../layout.js";
import { type Style, screenLines } from "./screen.js";
import {
  type AfterKey,
  type Message,
  NOTHING_YET,
  press,
  type WatchAction,
  type WatchRow,
  type WatchState,
  withRows,
} from "./state.js";
import { openTerminal, type TerminalEvent, type WatchTerminal } from "./terminal.js";

export interface WatchEffects {
  /** Reads what is on disk now. */
  rows(): WatchRow[] | Promise<WatchRow[]>;
  /** Does it and resolves with a line to show. `attach` and `logs` have the terminal until then. */
  act(action: WatchAction, name: string): Promise<string>;
}

type WatchEvent =
  | TerminalEvent
  | { type: "rows"; rows: WatchRow[] }
  | { type: "trouble"; trouble: string }
  | { type: "done"; message: Message };

const POLL_MS = 500;
const UNDER_WAY = { pause: "pausing", resume: "resuming", kill: "killing" };

interface Watching extends WatchEffects {
  redact: Redact;
  tell(event: WatchEvent): void;
  /** Reads the rows once more, if they are not being read. */
  read(): void;
  terminal: WatchTerminal;
  /** What was asked for and is not done yet. */
  underWay: Map<Promise<Message>, string>;
}

type WatchEnd = "quit" | "interrupted";

/** A live screen of all workers and runs, until it is left. */
export async function watchScreen(effects: WatchEffects, style: Style, redact: Redact): Promise<WatchEnd> {
  const emitter = new EventEmitter();
  const events = on(emitter, "event") as AsyncIterableIterator<[WatchEvent]>;
  const tell = (event: WatchEvent): void => void emitter.emit("event", event);
  const terminal = openTerminal(tell);
  const underWay: Watching["underWay"] = new Map();
  let timer: NodeJS.Timeout | undefined;
  let isReading = false;
  const read = async (): Promise<void> => {
    clearTimeout(timer);
    if (isReading) return;
    isReading = true;
    tell(await rowsNow(effects, redact));
    isReading = false;
  };
  let state = NOTHING_YET;
  try {
    tell({ type: "resized" });
    void read();
    for await (const [event] of events) {
      // Nothing is read while the terminal is lent: the next time is set when this one is dealt with.
      if (event.type === "rows" || event.type === "trouble") timer = setTimeout(read, POLL_MS);
      const next = await after(state, event, { ...effects, redact, tell, read, terminal, underWay });
      if (typeof next === "string") return next;
      state = next;
      terminal.draw(screenLines(state, terminal.size(), style));
    }
    return "quit";
  } finally {
    clearTimeout(timer);
    terminal.close();
    // A kill that was asked for right before the screen was left is done all the same.
    for (const [done, what] of underWay)
      process.stderr.write(`${screenText(what)}\n${screenText((await done).text)}\n`);
  }
}

async function rowsNow({ rows }: WatchEffects, redact: Redact): Promise<WatchEvent> {
  try {
    const read = await rows();
    return { type: "rows", rows: read.map((row) => ({ ...row, lastLine: redact(row.lastLine) })) };
  } catch (error) {
    return { type: "trouble", trouble: redact(errorWords(error)) };
  }
}

async function after(
  state: WatchState,
  event: WatchEvent,
  watching: Watching,
): Promise<WatchState | WatchEnd> {
  switch (event.type) {
    case "key":
      return await afterKey(press(state, event.key), watching);
    case "resized":
      return state;
    case "ended":
      return "interrupted";
    case "rows":
      return withRows(state, event.rows);
    case "trouble":
      return { ...state, trouble: event.trouble };
    case "done":
      return { ...state, message: event.message };
  }
}

async function afterKey({ state, intent }: AfterKey, watching: Watching): Promise<WatchState | WatchEnd> {
  if (intent === undefined || intent === "quit" || intent === "interrupted") return intent ?? state;
  if (typeof intent === "object") return { ...state, message: await carryOut(intent, watching) };
  watching.terminal[intent]();
  return state;
}

/** Resolves with what is to be said now; what needs no terminal tells when it is done. */
async function carryOut(
  { action, name }: { action: WatchAction; name: string },
  { act, redact, read, terminal, underWay, tell }: Watching,
): Promise<Message> {
  const done = async (): Promise<Message> => {
    const message = await tried(act(action, name), redact);
    read();
    return message;
  };
  if (action === "attach" || action === "logs") return await terminal.lend(done);
  const text = `${UNDER_WAY[action]} ${name}...`;
  const outcome = done();
  underWay.set(outcome, text);
  void outcome.then((message) => {
    underWay.delete(outcome);
    tell({ type: "done", message });
  });
  return { text, isError: false };
}

async function tried(action: Promise<string>, redact: Redact): Promise<Message> {
  try {
    return { text: redact(await action), isError: false };
  } catch (error) {
    return { text: redact(errorWords(error)), isError: true };
  }
}

/** What went wrong and what to do about it, for a line of the screen. */
function errorWords(error: unknown): string {
  const known = toRalphError(error);
  if (known === undefined) return error instanceof Error ? error.message : String(error);
  return known.hint === undefined ? known.message : `${known.message} (${known.hint})`;
}
