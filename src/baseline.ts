import type { BaselineCheck, CheckFinished, Witness } from "./events.js";

export function witnessOf({ before, now }: Pick<BaselineCheck, "before" | "now">): Witness {
  return `${before ? "green" : "red"}→${now ? "green" : "red"}`;
}

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
