import { closeSync } from "node:fs";
import { isatty } from "node:tty";

/**
 * The last thing to do before the process ends. Node 20 restores the terminal then, and aborts with a core dump
 * where the terminal is gone; it leaves closed files alone.
 */
export function letGoOfGoneTerminal(): void {
  for (const stream of [process.stdin, process.stdout, process.stderr]) {
    if (stream.isTTY && !isatty(stream.fd)) closeSync(stream.fd);
  }
}
