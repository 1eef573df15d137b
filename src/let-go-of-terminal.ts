import { closeSync, fstatSync } from "node:fs";

/**
 * The last thing to do before the process ends. Node 20 restores the terminal then, and aborts with a core dump
 * where the terminal is gone, which can happen at any moment; it leaves closed files alone. What ralph changed of
 * the terminal it has restored itself by now.
 */
export function letGoOfTerminal(): void {
  for (const file of [0, 1, 2])
    try {
      if (fstatSync(file).isCharacterDevice()) closeSync(file);
    } catch {
      // It is closed already.
    }
}
