import { toRalphError } from "../../errors.js";

/** What went wrong and what to do about it, for a line of the screen. */
export function sayError(error: unknown): string {
  const known = toRalphError(error);
  if (known === undefined) return error instanceof Error ? error.message : String(error);
  return known.hint === undefined ? known.message : `${known.message} (${known.hint})`;
}
