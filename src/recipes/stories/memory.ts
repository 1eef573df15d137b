import type { Json } from "../../events.js";
import { asJson, type Failure, failuresIn } from "../../verify/failure.js";

/** What an iteration leaves behind for the next one. */
export interface LastTime {
  /** What the agent did that it may not do, or left undone. */
  told: string[];
  /** Iterations in a row in which it broke the rules. */
  violations: number;
  /** Verify commands that failed when they were last run. */
  failures: Failure[];
  /** Why the agent failed, if it did. */
  error: string | null;
}

/** The same as it is read again. */
export interface Remembered extends LastTime {
  /** false: nothing of this run was verified before. */
  isKnown: boolean;
}

export function remember({ told, violations, failures, error }: LastTime): Json {
  return { told, violations, failures: asJson(failures), error };
}

/** It is read from the journal, so it is looked at before it is used. */
export function lastTime(memory: Json | undefined): Remembered {
  const found = typeof memory === "object" && memory !== null && !Array.isArray(memory) ? memory : {};
  const { told, violations, failures, error } = found;
  return {
    isKnown: memory !== undefined,
    told: Array.isArray(told) ? told.filter((text) => typeof text === "string") : [],
    violations: typeof violations === "number" ? violations : 0,
    failures: failuresIn(failures),
    error: typeof error === "string" ? error : null,
  };
}
