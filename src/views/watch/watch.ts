import { EventEmitter, on } from "node:events";
import { toRalphError } from "../../errors.js";
import type { Redact } from "../../records/redact.js";
import type { LoopRow } from "../../workers/worker.js";
import type { ConsoleFormatter } from "../agent-lines.js";
import { harmless } from "../harmless.js";
import { screenText } from "../layout.js";
import { type Follow, liveFeed } from "./live.js";
import { screenLines } from "./screen.js";
import {
  type AfterKey,
  type KeyIntent,
  moved,
  NOTHING_YET,
  press,
  type ScreenMessage,
  selectedRow,
  type WatchAction,
  type WatchPage,
  type WatchState,
} from "./state.js";
import { openTerminal, type TerminalEvent } from "./terminal.js";

export interface WatchEffects {
  rows(): LoopRow[] | Promise<LoopRow[]>;
  /** Does it and resolves with a line to show. `attach` has the terminal until then. */
  act(action: WatchAction, name: string, text?: string): Promise<string>;
  page(page: WatchPage, name: string): Promise<string>;
  follow: Follow;
}

/** `read`: the rows, or why they are unreadable; `done`: the end of an action; `live`: output of the selected row. */
type WatchEvent = TerminalEvent | { type: "read" | "done" | "live"; change: Partial<WatchState> };

const POLL_MS = 500;
const UNDER_WAY = {
  ...{ pause: "pausing", resume: "resuming", kill: "killing", answer: "answering", steer: "steering" },
  ...{ report: "reading the report of", diff: "reading the diff of" },
};

/** A live screen of all workers and runs, until it is left. */
export async function watchScreen(
  effects: WatchEffects,
  formatter: () => ConsoleFormatter,
  redact: Redact,
): Promise<"quit" | "interrupted"> {
  const format = formatter();
  const emitter = new EventEmitter();
  const events = on(emitter, "event") as AsyncIterableIterator<[WatchEvent]>;
  const tell = (event: WatchEvent): void => void emitter.emit("event", event);
  const terminal = openTerminal(tell);
  let timer: NodeJS.Timeout | undefined;
  const read = async (): Promise<void> => tell({ type: "read", change: await rowsNow(effects, redact) });
  const live = liveFeed({
    ...{ follow: effects.follow, format: formatter, redact },
    changed: (now) => tell({ type: "live", change: { live: now } }),
  });
  const { carryOut, finish } = worksFor(effects, terminal, redact, (change) =>
    tell({ type: "done", change }),
  );
  const after = async ({ state, intent }: AfterKey) => {
    if (intent === undefined || intent === "quit" || intent === "interrupted") return intent ?? state;
    if (typeof intent === "object") return { ...state, message: await carryOut(intent) };
    terminal[intent]();
    return state;
  };
  let state = NOTHING_YET;
  try {
    void read();
    for await (const [event] of events) {
      if (event.type === "ended") return "interrupted";
      // Nothing is read while the terminal is lent: the next time is set when this one is dealt with.
      if (event.type === "read") timer = setTimeout(read, POLL_MS);
      if ("change" in event) state = moved(changed(state, event.change), 0);
      else if (event.type === "key") {
        const next = await after(press(state, event.key, event.isPasted));
        if (typeof next === "string") return next;
        state = next;
      }
      live.select(selectedRow(state)?.run ?? undefined);
      terminal.draw(screenLines(state, terminal.size(), format));
    }
    return "quit";
  } finally {
    clearTimeout(timer);
    live.close();
    terminal.close();
    await finish();
  }
}

/** Actions of keys beyond the screen. `done` gets the changes when one has ended. */
function worksFor(
  effects: WatchEffects,
  terminal: ReturnType<typeof openTerminal>,
  redact: Redact,
  done: (change: Partial<WatchState>) => void,
) {
  const underWay = new Map<Promise<Partial<WatchState>>, string>();
  const failed = (error: unknown): { message: ScreenMessage } => ({
    message: { text: redact(errorWords(error)), isError: true },
  });
  const begin = (what: string, work: Promise<Partial<WatchState>>): ScreenMessage => {
    const outcome = work.catch(failed);
    underWay.set(outcome, what);
    void outcome.then((change) => {
      underWay.delete(outcome);
      done(change);
    });
    return { text: what, isError: false };
  };
  const open = async (page: WatchPage, name: string): Promise<Partial<WatchState>> => {
    const lines = harmless(redact(await effects.page(page, name)))
      .trimEnd()
      .split("\n");
    return { mode: { kind: "page", title: `${page} of ${name}`, lines, at: 0 } };
  };
  const act = async ({ action, name, text }: Extract<KeyIntent, { action: WatchAction }>) => ({
    message: { text: redact(await effects.act(action, name, text)), isError: false },
  });
  return {
    /** Returns the message for now; actions without a terminal continue in the background. */
    async carryOut(intent: Exclude<KeyIntent, string>): Promise<ScreenMessage> {
      const { name } = intent;
      if ("page" in intent) return begin(`${UNDER_WAY[intent.page]} ${name}...`, open(intent.page, name));
      if (intent.action !== "attach") return begin(`${UNDER_WAY[intent.action]} ${name}...`, act(intent));
      return (await terminal.lend(() => act(intent).catch(failed))).message;
    },
    /** A kill that was asked for right before the screen was left is done all the same. */
    async finish(): Promise<void> {
      for (const [outcome, what] of underWay)
        process.stderr.write(`${screenText(what)}\n${screenText((await outcome).message?.text ?? "")}\n`);
    },
  };
}

async function rowsNow({ rows }: WatchEffects, redact: Redact): Promise<Partial<WatchState>> {
  try {
    const read = (await rows()).map((row) => ({ ...row, lastLine: redact(row.lastLine) }));
    return { rows: read, trouble: undefined };
  } catch (error) {
    return { trouble: redact(errorWords(error)) };
  }
}

/** A page opens only over the list: it does not interrupt typing. */
function changed(state: WatchState, { mode, ...change }: Partial<WatchState>): WatchState {
  const isOpened = mode !== undefined && state.mode.kind === "list";
  return { ...state, ...change, ...(isOpened && { mode, message: undefined }) };
}

/** An error and its hint, for a line of the screen. */
function errorWords(error: unknown): string {
  const known = toRalphError(error);
  if (known === undefined) return error instanceof Error ? error.message : String(error);
  return known.hint === undefined ? known.message : `${known.message} (${known.hint})`;
}
