import { harmless, harmlessJson } from "./harmless.js";
import { print } from "./print.js";
import type { View } from "./view.js";

/** One event per line on stdout, and nothing else. */
export function jsonView(): View {
  return {
    event: (event) => print(process.stdout, `${harmlessJson(event)}\n`),
    note: (text) => void process.stderr.write(`${harmless(text)}\n`),
    close: () => {},
  };
}
