import type { Json } from "../../events.js";
import type { Failure } from "./failure.js";

/** What the last iteration left behind for the next prompt. */
export interface LastTime {
  failures: Failure[];
  /** Why the agent failed, if it did. */
  error: string | null;
}

export function remember(failures: Failure[], error: string | null): Json {
  return { failures: failures.map(({ command, how, output }) => ({ command, how, output })), error };
}

/** It is read from the journal, so it is looked at before it is told. */
export function lastTime(memory: Json | undefined): LastTime {
  if (!isObject(memory)) return { failures: [], error: null };
  const { failures, error } = memory;
  return {
    failures: Array.isArray(failures) ? failures.flatMap(failureIn) : [],
    error: typeof error === "string" ? error : null,
  };
}

function failureIn(value: Json): Failure[] {
  if (!isObject(value)) return [];
  const { command, how, output } = value;
  const isWhole = typeof command === "string" && typeof how === "string" && typeof output === "string";
  return isWhole ? [{ command, how, output }] : [];
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
