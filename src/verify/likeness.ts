import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { normalForm, sameNames } from "../normal-form.js";
import { digest } from "../records/digest.js";
import { failureLines } from "./excerpt.js";
import type { Failure } from "./failure.js";

/** The same word for failures of the same kind. */
export function likeness(failures: string[]): Promise<string> {
  return digest(failures.map(normalForm).join("\n"));
}

/** All that tells a failed check from another: other tests that fail are another failure, whatever else is said. */
export function likenessOf({ command, output, failing = "", why = "" }: Failed): string {
  return [command, output, failing, why].join("\n");
}

interface Failed extends Pick<Failure, "command" | "output" | "failing"> {
  why?: string;
}

/** Longer logs are read from this far before their end. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** A word for the tests that a log names as failed; undefined: it names none. */
export async function failingIn(log: string): Promise<string | undefined> {
  const names = new Set(failureLines(endOf(log)).map(sameNames));
  return names.size === 0 ? undefined : digest([...names].sort().join("\n"));
}

/** A log that could not be written says nothing. */
function endOf(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const { size } = fstatSync(file);
      const bytes = Buffer.alloc(Math.min(size, MAX_LOG_BYTES));
      readSync(file, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString("utf8");
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}
