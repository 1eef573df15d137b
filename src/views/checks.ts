import { wordsFor } from "../baseline.js";
import type { BaselineCheck, CheckFinished } from "../events.js";

const SKIPPED: Record<NonNullable<CheckFinished["skipped"]>, string> = {
  unchanged: "skipped, its inputs are unchanged since it passed",
  after_failure: "skipped, another check failed first",
  untrusted: "not run: an agent added it, and there is no sandbox to run it in",
};

export function skippedWords(why: NonNullable<CheckFinished["skipped"]>): string {
  return Object.hasOwn(SKIPPED, why) ? SKIPPED[why] : "skipped";
}

const ORDER = ["fixed", "failed before", "broken by this run"];

/** `fixed: npm test; broken by this run: npm run lint`; null: all is as it was, and passes. */
export function baselineWords(
  baseline: BaselineCheck[] | undefined,
  shown: (command: string) => string,
): string | null {
  if (baseline === undefined) return null;
  const groups = ORDER.flatMap((words) => {
    const own = baseline.filter((check) => wordsFor(check) === words).map(({ command }) => shown(command));
    return own.length === 0 ? [] : [`${words}: ${own.join(", ")}`];
  });
  return groups.length === 0 ? "all checks pass, as before" : groups.join("; ");
}
