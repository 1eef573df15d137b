import { join } from "node:path";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import { checkFinished, runCheck } from "../../verify/checks.js";
import { ending, readable } from "../../verify/excerpt.js";
import type { VerifyContext } from "../recipe.js";
import type { ChecksContext, ChecksSpec } from "./checks.js";

/** How much of a check the next prompt holds, from its end. */
const OUTPUT_CHARS = 2000;
/** Colours and redrawn lines are taken out of it first. */
const RAW_CHARS = 4 * OUTPUT_CHARS;

/** All of them, also after one failed. undefined: a signal came before the last one. */
export async function* runChecks(
  { checks, checkTimeoutMs }: ChecksSpec,
  context: ChecksContext,
  { iteration, stop, kill }: VerifyContext,
): AsyncGenerator<LoopEventBody, CheckFinished[] | undefined> {
  const results: CheckFinished[] = [];
  for (const [index, command] of checks.entries()) {
    if (stop.aborted) return undefined;
    const log = join(context.folderFor(iteration), `check-${index + 1}.log`);
    yield { type: "check.started", iteration, command };
    const result = await runCheck(
      { command, timeoutMs: checkTimeoutMs },
      { ...context, kill, log, keep: { chars: RAW_CHARS, from: "end" } },
    );
    const output = ending(readable(result.output), OUTPUT_CHARS);
    const finished = checkFinished({ iteration, command, log }, result, output);
    yield finished;
    results.push(finished);
  }
  return kill.aborted ? undefined : results;
}
