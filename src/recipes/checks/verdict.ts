import type { CheckFinished } from "../../events.js";
import type { Answer, Verdict } from "../../loop/recipe.js";
import { type Failure, failureOf, namesOf } from "../../verify/failure.js";
import { likeness, likenessOf } from "../../verify/likeness.js";
import { hasFailed } from "../../verify/schedule.js";
import { saysTag } from "../../verify/tag.js";
import type { ChecksSpec } from "./checks.js";
import { remember } from "./memory.js";

/** What came of an iteration. */
export interface Judged {
  answer: Answer;
  results: CheckFinished[];
  failures: Failure[];
  completionTag: string | null;
  claimedDone: boolean;
}

export function judge(answer: Answer, results: CheckFinished[], spec: ChecksSpec): Judged {
  const { completionTag, checkTimeoutMs } = spec;
  const failures = results.filter(hasFailed).map((check) => failureOf(check, checkTimeoutMs));
  const claimedDone = completionTag !== null && saysTag(answer.finalMessage, completionTag);
  return { answer, results, failures, completionTag, claimedDone };
}

export async function verdictOf(judged: Judged): Promise<Verdict> {
  const { answer, failures, completionTag, claimedDone } = judged;
  const memory = remember(failures, answer.error);
  if (failures.length > 0) {
    const failure = await likeness(failures.map(likenessOf));
    return { passed: false, reason: whichFailed(judged), claimedDone, failure, memory };
  }
  const missing = whatIsMissing(answer, completionTag, claimedDone);
  if (missing === undefined) {
    return { passed: true, reason: "all checks passed", claimedDone, stop: "all_checks_passed" };
  }
  const reason = `all checks passed, but ${missing}`;
  // An agent that never says it and changes nothing would otherwise use up every iteration.
  return { passed: true, reason, claimedDone, failure: await likeness([reason]), memory };
}

/** Checks that pass prove nothing of an agent that failed before it was done. */
function whatIsMissing({ error }: Answer, tag: string | null, claimedDone: boolean): string | undefined {
  if (error !== null) return "the agent failed";
  return tag === null || claimedDone
    ? undefined
    : `the agent did not say ${tag} (--no-completion-tag lets the checks alone decide)`;
}

function whichFailed({ failures, results, claimedDone }: Judged): string {
  const said = claimedDone ? "claimed to be done, but " : "";
  const notRun = results.filter(({ skipped }) => skipped === "after_failure").length;
  const rest = notRun === 0 ? "" : `, ${notRun} not run`;
  return `${said}${failures.length} of ${results.length} checks failed: ${namesOf(failures)}${rest}`;
}
