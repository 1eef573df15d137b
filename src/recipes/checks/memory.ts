import type { Json } from "../../events.js";
import { asJson, type Failure, failuresIn } from "../../verify/failure.js";

/** What the last iteration left behind for the next prompt. */
export interface LastTime {
  failures: Failure[];
  /** Why the agent failed, if it did. */
  error: string | null;
}

export function remember(failures: Failure[], error: string | null): Json {
  return { failures: asJson(failures), error };
}

/** It is read from the journal, so it is looked at before it is told. */
export function lastTime(memory: Json | undefined): LastTime {
  if (!isObject(memory)) return { failures: [], error: null };
  const { failures, error } = memory;
  return {
    failures: failuresIn(failures),
    error: typeof error === "string" ? error : null,
  };
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
