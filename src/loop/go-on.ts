import type { RunFinished } from "../events.js";
import { isSuccess } from "../stop-reasons.js";
import { limitReached } from "./limits.js";
import { limitsOf, type Run, type Stop } from "./run.js";

/** What a resume has to know that the reason to stop does not tell. */
export function howItGoesOn(run: Run, { reason, isFinal }: Stop): Pick<RunFinished, "limit" | "final"> {
  if (isFinal) return { final: true };
  // An answer that was not verified is verified first, whatever the limits.
  if (isSuccess(reason) || run.state.answer !== undefined) return {};
  const used = { ...run.state, activeMs: run.stopwatch.activeMs() };
  const limit = limitReached(used, limitsOf(run));
  return limit === undefined || limit === reason ? {} : { limit };
}
