import type { CheckFinished } from "../events.js";
import type { Check, CheckResult } from "./check.js";
import { howItFailed } from "./failure.js";

/** How often ralph runs a check that is known to be flaky. */
const TRIES = 3;

/** A check that has passed before; if it fails now, it is flaky. Reports an earlier retry, too. */
export function confirmed(check: Check, before: CheckFinished): Check {
  const { judge } = retried(check);
  return {
    ...check,
    flaky: undefined,
    async judge(run) {
      const result = await (judge?.(run) ?? run());
      const { event } = result;
      if (event.passed)
        return { ...result, event: { ...(before.flaky && { flaky: before.flaky }), ...event } };
      const flaky = ["passed", outcomeOf(event, check)];
      return {
        ...result,
        event: { ...event, flaky, why: `flaky: ${flaky.join(", then ")} on the same files` },
      };
    },
  };
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
