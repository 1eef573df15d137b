import type { BaselineCheck, CheckFinished } from "../events.js";

/** What has become of a check since the run began; undefined: it passes as it did. */
export function wordsFor({ before, now }: Pick<BaselineCheck, "before" | "now">): string | undefined {
  if (before) return now ? undefined : "broken by this run";
  return now ? "fixed" : "failed before";
}

/** The same of a check that has just ended. */
export function becameOf(
  { command, passed }: Pick<CheckFinished, "command" | "passed">,
  baseline: BaselineCheck[],
): string | undefined {
  const known = baseline.find((check) => check.command === command);
  return known && wordsFor({ before: known.before, now: passed });
}

const SKIPPED: Record<NonNullable<CheckFinished["skipped"]>, string> = {
  unchanged: "skipped, its inputs are unchanged since it passed",
  after_failure: "skipped, another check failed first",
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
