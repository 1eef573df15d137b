import { setImmediate } from "node:timers/promises";
import { type Key, keyReader } from "./keys.js";
import type { Size } from "./screen.js";

/** What happens at a terminal. */
export type TerminalEvent = { type: "key"; key: Key } | { type: "resized" } | { type: "ended" };

export type WatchTerminal = ReturnType<typeof openTerminal>;

/** Other screen, no cursor, no wrapping, and pastes that can be told from keys. */
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h\u001b[2J";
const LEAVE = "\u001b[0m\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Takes the terminal over and tells everything that happens there. Throws nothing. */
export function openTerminal(tell: (event: TerminalEvent) => void) {
  const { stdin, stdout } = process;
  let shown: string[] = [];
  let isOurs = false;

  const enter = (): void => {
    isOurs = true;
    shown = [];
    stdin.setRawMode(true);
    stdin.resume();
    stdout.write(ENTER);
  };
  const leave = (): void => {
    if (!isOurs) return;
    isOurs = false;
    stdout.write(LEAVE);
    stdin.pause();
    stdin.setRawMode(false);
  };
  const reenter = (): void => {
    leave();
    enter();
    tell({ type: "resized" });
  };
  const resized = (): void => {
    shown = [];
    tell({ type: "resized" });
  };
  const continued = (): void => {
    if (isOurs) reenter();
  };
  const ended = (): void => tell({ type: "ended" });
  // A Ctrl+C is meant for the program that has the terminal now.
  const signalled = (name: NodeJS.Signals): void => {
    if (isOurs || name !== "SIGINT") ended();
  };
  const typed = keyReader((key) => tell({ type: "key", key }));
  stdin.setEncoding("utf8").on("data", typed).on("error", ended).once("end", ended).once("close", ended);
  stdout.on("resize", resized).on("error", ended);
  for (const name of SIGNALS) process.on(name, signalled);
  process.on("SIGCONT", continued).on("exit", leave);
  enter();
  return {
    size: (): Size => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    draw(lines: string[]): void {
      if (!isOurs || stdout.writableNeedDrain) return;
      const text = frame(shown, lines);
      shown = lines;
      if (text !== "") stdout.write(text);
    },
    /** The next drawing draws everything. */
    forget(): void {
      shown = [];
    },
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
      reenter();
    },
    /** Leaves the terminal as it was found. */
    close(): void {
      leave();
      // A terminal that is gone fails to the last: its errors stay heard.
      stdin.off("data", typed).off("end", ended).off("close", ended);
      stdout.off("resize", resized);
      for (const name of SIGNALS) process.off(name, signalled);
      process.off("SIGCONT", continued).off("exit", leave);
    },
  };
}

/** Terminals that know it show what is between all at once. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";

/** What a terminal must be sent so that it shows the lines: nothing for those that it shows already. */
function frame(shown: string[], lines: string[]): string {
  // The rest of a line is cleared after it is written, so that it is never seen empty.
  const changes = lines.flatMap((line, row) =>
    line === shown[row] ? [] : [`\u001b[${row + 1};1H${line}\u001b[0m\u001b[K`],
  );
  return changes.length === 0 ? "" : `${BEGIN}${changes.join("")}${END}`;
}
