import type { CheckFinished } from "../events.js";
import type { Check, CheckResult } from "./check.js";
import { howItFailed } from "./failure.js";

/** How often ralph runs a check that is known to be flaky. */
const TRIES = 3;

/** The same check; it fails if its result differs from the one before. */
export function comparedWith(check: Check, before: CheckResult | undefined): Check {
  if (before === undefined || before.event.skipped === "after_failure") return check;
  const { judge } = retried(check);
  return {
    ...check,
    flaky: undefined,
    async judge(run) {
      const result = await (judge?.(run) ?? run());
      const { event } = result;
      if (event.passed === before.event.passed) return withEarlier(result, before);
      const flaky = [outcomeOf(before.event, check), outcomeOf(event, check)];
      const why = `flaky: ${flaky.join(", then ")} on the same files`;
      return { ...result, event: { ...event, passed: false, flaky, why } };
    },
  };
}

/** Keeps the first result visible, although its event is replaced. */
function withEarlier(result: CheckResult, { event: { flaky } }: CheckResult): CheckResult {
  if (flaky === undefined || result.event.flaky !== undefined) return result;
  return { ...result, event: { ...result.event, flaky } };
}

/** A check that is known to be flaky passes if one of its tries does, and reports the others. */
export function retried(check: Check): Check {
  if (check.flaky !== "retry") return check;
  return {
    ...check,
    async judge(run) {
      const once = async (): Promise<CheckResult> => await (check.judge?.(run) ?? run());
      const outcomes: string[] = [];
      let result = await once();
      for (outcomes.push(outcomeOf(result.event, check)); !result.event.passed; ) {
        if (outcomes.length === TRIES || result.event.signal !== null) return result;
        result = await once();
        outcomes.push(outcomeOf(result.event, check));
      }
      return outcomes.length === 1 ? result : { ...result, event: { ...result.event, flaky: outcomes } };
    },
  };
}

function outcomeOf(event: CheckFinished, { timeoutMs }: Check): string {
  return event.passed ? "passed" : howItFailed(event, timeoutMs);
}
