// biome-ignore lint/style/noRestrictedImports: it tells keys apart here, and reads no lines
import { emitKeypressEvents, type Interface } from "node:readline";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { Size } from "./screen.js";

/** An event of a terminal; a key is a character, or Node's name for it. */
export type TerminalEvent =
  | { type: "key"; key: string; isPasted: boolean }
  | { type: "resized" }
  | { type: "ended" };

/** Alternate screen, no cursor, no wrapping, and pastes that differ from keys. */
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h\u001b[2J";
const LEAVE = "\u001b[0m\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Terminals that know it show what is between all at once. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";

/** Takes over the terminal and reports every event there. Does not throw. */
export function openTerminal(tell: (event: TerminalEvent) => void) {
  const { stdin, stdout } = process;
  let shown: string[] = [];
  let isOurs = false;
  const enter = (): void => {
    isOurs = true;
    stdin.setRawMode(true);
    stdin.resume();
    stdout.write(ENTER);
    redraw();
  };
  const leave = (): void => {
    if (!isOurs) return;
    isOurs = false;
    stdout.write(LEAVE);
    stdin.pause();
    stdin.setRawMode(false);
  };
  const redraw = (): void => {
    shown = [];
    tell({ type: "resized" });
  };
  const continued = (): void => {
    if (!isOurs) return;
    leave();
    enter();
  };
  const ended = (): void => tell({ type: "ended" });
  // A Ctrl+C is meant for the program that has the terminal now.
  const signalled = (name: NodeJS.Signals): void => {
    if (isOurs || name !== "SIGINT") ended();
  };
  const typed = keyReader((key, isPasted) => tell({ type: "key", key, isPasted }));
  stdin.setEncoding("utf8").on("data", typed).on("error", ended).once("end", ended).once("close", ended);
  stdout.on("resize", redraw).on("error", ended);
  for (const name of SIGNALS) process.on(name, signalled);
  process.on("SIGCONT", continued).on("exit", leave);
  enter();
  return {
    size: (): Size => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    draw(lines: string[]): void {
      if (!isOurs || stdout.writableNeedDrain) return;
      // The rest of a line is cleared after it is written, so that it is never seen empty.
      const changes = lines.flatMap((line, row) =>
        line === shown[row] ? [] : [`\u001b[${row + 1};1H${line}\u001b[0m\u001b[K`],
      );
      shown = lines;
      if (changes.length > 0) stdout.write(`${BEGIN}${changes.join("")}${END}`);
    },
    forget: redraw,
    /** Gives the terminal away as it was found, until the work is done. */
    async lend<Result>(work: () => Promise<Result>): Promise<Result> {
      leave();
      try {
        return await work();
      } finally {
        // A Ctrl+C that ended the work is heard one turn of the loop later: the terminal is still the work's.
        await setImmediate();
        await setImmediate();
        enter();
      }
    },
    /** Stops this process, as Ctrl+Z does elsewhere. */
    suspend(): void {
      leave();
      process.kill(0, "SIGTSTP");
      enter();
    },
    close(): void {
      leave();
      // A terminal that is gone fails to the last: its errors stay heard.
      stdin.off("data", typed).off("end", ended).off("close", ended);
      stdout.off("resize", redraw);
      for (const name of SIGNALS) process.off(name, signalled);
      process.off("SIGCONT", continued).off("exit", leave);
    },
  };
}

/** How long the second half of a key may take: an escape that nothing follows is the key of that name. */
const KEY_MS = 50;
/** The terminal's answers to queries of another program: nobody typed them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ANSWERS = /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** Returns what takes the text that a terminal sends. */
export function keyReader(tell: (key: string, isPasted: boolean) => void): (text: string) => void {
  const input = new PassThrough();
  let isPasted = false;
  emitKeypressEvents(input, { escapeCodeTimeout: KEY_MS } as unknown as Interface);
  input.on("keypress", (text: string | undefined, key: { name?: string; ctrl: boolean; meta: boolean }) => {
    const { name = "", ctrl, meta } = key;
    if (name.startsWith("paste-")) isPasted = name === "paste-start";
    else if (ctrl) tell(`ctrl+${name}`, isPasted);
    // Alt with a key means nothing here.
    else if (!meta || name === "escape")
      tell(text === undefined || /\p{Cc}/u.test(text) ? name : text, isPasted);
  });
  return (text) => void input.write(text.replace(ANSWERS, ""));
}
