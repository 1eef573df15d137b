import { RalphError } from "../errors.js";
import { createRedactor, type Redact } from "../records/redact.js";
import { exitCodeOf } from "../stop-reasons.js";
import { screenText } from "../views/cells.js";
import { createInbox, type Inbox } from "../views/watch/inbox.js";
import type { Key } from "../views/watch/keys.js";
import { createLookout, type LookAround, type Lookout, type Sight } from "../views/watch/lookout.js";
import { press, type WatchAction } from "../views/watch/press.js";
import { sayError } from "../views/watch/say-error.js";
import { screenLines } from "../views/watch/screen.js";
import { openTerminal, type TerminalEvent, type WatchTerminal } from "../views/watch/terminal.js";
import { type Message, NOTHING_YET, type Watched, withRows } from "../views/watch/watched.js";
import { formatterFor, type OutputFlags, surviveClosedPipe } from "./output.js";

export type WatchFlags = Pick<OutputFlags, "color" | "emoji">;

export interface WatchEffects {
  look: LookAround;
  /** Does it and resolves with a line to show. `attach` and `logs` have the terminal until then. */
  act(action: WatchAction, name: string): Promise<string>;
}

type WatchEvent = TerminalEvent | Sight | { type: "told"; message: Message };

interface Watching extends WatchEffects {
  terminal: WatchTerminal;
  inbox: Inbox<WatchEvent>;
  lookout: Lookout;
  redact: Redact;
  /** What was asked for and is not done yet. */
  underWay: Map<Promise<Message>, string>;
}

/** `ralph watch`: a live screen of all workers and runs. */
export async function watch(flags: WatchFlags, { look, act }: WatchEffects): Promise<number> {
  mustBeTerminal();
  surviveClosedPipe();
  const inbox = createInbox<WatchEvent>();
  const redact = createRedactor(process.env);
  const lookout = createLookout(look, redact, inbox.add);
  const terminal = openTerminal(inbox.add);
  const underWay: Watching["underWay"] = new Map();
  try {
    lookout.now();
    return await follow({ terminal, inbox, lookout, look, act, redact, underWay }, flags);
  } finally {
    lookout.end();
    terminal.close();
    await finish(underWay);
  }
}

/** Who leaves right after a kill has asked for it all the same. */
async function finish(underWay: Watching["underWay"]): Promise<void> {
  for (const [done, what] of underWay) {
    process.stderr.write(`${screenText(what)}\n`);
    process.stderr.write(`${screenText((await done).text)}\n`);
  }
}

function mustBeTerminal(): void {
  if (process.stdin.isTTY && process.stdout.isTTY && process.env["TERM"] !== "dumb") return;
  throw new RalphError("ralph watch needs a terminal", {
    code: "terminal_missing",
    hint: "ralph ls prints the same once",
  });
}

/** Until it is left; returns the exit code. */
async function follow(watching: Watching, flags: WatchFlags): Promise<number> {
  const { terminal, inbox } = watching;
  const style = { paint: formatterFor(flags).paint, useEmoji: flags.emoji ?? true };
  let watched = NOTHING_YET;
  for (;;) {
    if (inbox.isEmpty()) terminal.draw(screenLines(watched, terminal.size(), style));
    const next = await after(watched, await inbox.next(), watching);
    if (typeof next === "number") return next;
    watched = next;
  }
}

/** What is to be seen after something has happened; a number is the exit code. */
async function after(watched: Watched, event: WatchEvent, watching: Watching): Promise<Watched | number> {
  switch (event.type) {
    case "key":
      return await afterKey(watched, event.key, watching);
    case "resized":
      return watched;
    case "ended":
      return exitCodeOf("interrupted");
    case "looked":
      watching.lookout.later();
      return withRows(watched, event.rows);
    case "blind":
      watching.lookout.later();
      return { ...watched, trouble: event.trouble };
    case "told":
      return { ...watched, message: event.message };
  }
}

async function afterKey(before: Watched, key: Key, watching: Watching): Promise<Watched | number> {
  const { watched, intent } = press(before, key);
  switch (intent?.type) {
    case undefined:
      return watched;
    case "quit":
      return 0;
    case "interrupt":
      return exitCodeOf("interrupted");
    case "redraw":
      watching.terminal.forget();
      return watched;
    case "suspend":
      watching.terminal.suspend();
      return watched;
    case "act":
      return { ...watched, message: await carryOut(intent.action, intent.name, watching) };
  }
}

const UNDER_WAY = { pause: "pausing", resume: "resuming", kill: "killing" };

/** Resolves with what is to be said now; what needs no terminal is told when it is done. */
async function carryOut(action: WatchAction, name: string, watching: Watching): Promise<Message> {
  const done = async (): Promise<Message> => {
    const message = await tried(action, name, watching);
    watching.lookout.now();
    return message;
  };
  if (action === "attach" || action === "logs") return await watching.terminal.lend(done);
  const text = `${UNDER_WAY[action]} ${name}...`;
  const message = done();
  watching.underWay.set(message, text);
  void message.then((told) => {
    watching.underWay.delete(message);
    watching.inbox.add({ type: "told", message: told });
  });
  return { text, isError: false };
}

async function tried(action: WatchAction, name: string, { act, redact }: Watching): Promise<Message> {
  try {
    return { text: redact(await act(action, name)), isError: false };
  } catch (error) {
    return { text: redact(sayError(error)), isError: true };
  }
}
