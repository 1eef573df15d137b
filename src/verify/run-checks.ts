import { join } from "node:path";
import type { CheckFinished, LoopEventBody } from "../events.js";
import { type CheckContext, checkFinished, runCheck } from "./checks.js";
import { ending, readable } from "./excerpt.js";

export interface Checks {
  checks: string[];
  /** For each of them. */
  checkTimeoutMs: number;
}

export interface ChecksPlace extends Pick<CheckContext, "workspace" | "env" | "redact" | "sandbox"> {
  /** Folder for the logs of an iteration. */
  folderFor(iteration: number): string;
}

export interface ChecksTurn {
  iteration: number;
  /** Aborted: start nothing more. */
  stop: AbortSignal;
  kill: AbortSignal;
}

/** How much of a check the next prompt holds, from its end. */
const OUTPUT_CHARS = 2000;
/** Colours and redrawn lines are taken out of it first. */
const RAW_CHARS = 4 * OUTPUT_CHARS;

/** All of them, also after one failed. undefined: a signal came before the last one. */
export async function* runChecks(
  { checks, checkTimeoutMs }: Checks,
  place: ChecksPlace,
  { iteration, stop, kill }: ChecksTurn,
): AsyncGenerator<LoopEventBody, CheckFinished[] | undefined> {
  const results: CheckFinished[] = [];
  for (const [index, command] of checks.entries()) {
    if (stop.aborted) return undefined;
    const log = join(place.folderFor(iteration), `check-${index + 1}.log`);
    yield { type: "check.started", iteration, command };
    const result = await runCheck(
      { command, timeoutMs: checkTimeoutMs },
      { ...place, kill, log, keep: { chars: RAW_CHARS, from: "end" } },
    );
    const output = ending(readable(result.output), OUTPUT_CHARS);
    const finished = checkFinished({ iteration, command, log }, result, output);
    yield finished;
    results.push(finished);
  }
  return kill.aborted ? undefined : results;
}
