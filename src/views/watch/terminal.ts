import { setImmediate } from "node:timers/promises";
import { frame } from "./frame.js";
import { endOfKeys, type Key, type KeysRead, readKeys } from "./keys.js";
import type { Size } from "./screen.js";

/** What happens at a terminal. */
export type TerminalEvent = { type: "key"; key: Key } | { type: "resized" } | { type: "ended" };

export interface WatchTerminal {
  size(): Size;
  draw(lines: string[]): void;
  /** The next drawing draws everything. */
  forget(): void;
  /** Gives the terminal away as it was found, until the work is done. */
  lend<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Stops this process, as Ctrl+Z does elsewhere. */
  suspend(): void;
  /** Leaves the terminal as it was found. */
  close(): void;
}

/** Other screen, no cursor, no wrapping, and pastes that can be told from keys. */
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h\u001b[2J";
const LEAVE = "\u001b[0m\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Takes the terminal over. Everything that happens there is told; nothing is thrown. */
export function openTerminal(tell: (event: TerminalEvent) => void): WatchTerminal {
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
  const release = listen({
    tell,
    resized: () => {
      shown = [];
      tell({ type: "resized" });
    },
    continued: () => isOurs && reenter(),
    // Who has the terminal now is who Ctrl+C is meant for.
    signalled: (name) => (isOurs || name !== "SIGINT") && tell({ type: "ended" }),
    leave,
  });
  enter();
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    draw(lines) {
      if (!isOurs || stdout.writableNeedDrain) return;
      const text = frame(shown, lines);
      shown = lines;
      if (text !== "") stdout.write(text);
    },
    forget() {
      shown = [];
    },
    async lend(work) {
      leave();
      try {
        return await work();
      } finally {
        await signalsHeard();
        enter();
      }
    },
    suspend() {
      leave();
      process.kill(0, "SIGTSTP");
      reenter();
    },
    close() {
      leave();
      release();
    },
  };
}

interface Listeners {
  tell(event: TerminalEvent): void;
  resized(): void;
  continued(): void;
  signalled(name: NodeJS.Signals): void;
  leave(): void;
}

/** Returns what ends it. A terminal that is gone fails to the last: its errors stay heard. */
function listen({ tell, resized, continued, signalled, leave }: Listeners): () => void {
  const { stdin, stdout } = process;
  const ended = (): void => tell({ type: "ended" });
  const typed = keyReader((key) => tell({ type: "key", key }));
  stdin.setEncoding("utf8").on("data", typed).on("error", ended).once("end", ended).once("close", ended);
  stdout.on("resize", resized).on("error", ended);
  for (const name of SIGNALS) process.on(name, signalled);
  process.on("SIGCONT", continued);
  process.on("exit", leave);
  return () => {
    stdin.off("data", typed).off("end", ended).off("close", ended);
    stdout.off("resize", resized);
    for (const name of SIGNALS) process.off(name, signalled);
    process.off("SIGCONT", continued).off("exit", leave);
  };
}

/** A Ctrl+C that ended other work is heard while the terminal is still that work's: one turn of the loop later. */
async function signalsHeard(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** How long the second half of a key may take. */
const KEY_MS = 50;

function keyReader(tell: (key: Key) => void): (text: string) => void {
  let rest = "";
  let timer: NodeJS.Timeout | undefined;
  const take = (read: KeysRead): void => {
    rest = read.rest;
    read.keys.forEach(tell);
  };
  return (text) => {
    clearTimeout(timer);
    take(readKeys(rest + text));
    if (rest !== "") timer = setTimeout(() => take(endOfKeys({ keys: [], rest })), KEY_MS);
  };
}
