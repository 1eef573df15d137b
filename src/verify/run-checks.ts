import { join } from "node:path";
import type { CheckFinished, LoopEventBody } from "../events.js";
import { type CheckContext, checkFinished, runCheck } from "./checks.js";
import { ending, readable } from "./excerpt.js";
import { type Job, runJobs, type Schedule, type Turn } from "./schedule.js";

export interface Checks {
  checks: string[];
  /** For each of them. */
  checkTimeoutMs: number;
}

export interface ChecksPlace
  extends Pick<CheckContext, "workspace" | "env" | "redact" | "sandbox" | "spoiled" | "keepBackground"> {
  /** Folder for the logs of an iteration. */
  folderFor(iteration: number): string;
  /** Left out: one after the other. */
  schedule?: Schedule | undefined;
}

/** How much of a check the next prompt holds, from its end. */
const OUTPUT_CHARS = 2000;
/** Colours and redrawn lines are taken out of it first. */
const RAW_CHARS = 4 * OUTPUT_CHARS;

/** All of them, also after one failed. undefined: a signal came before the last one. */
export function runChecks(
  { checks, checkTimeoutMs }: Checks,
  place: ChecksPlace,
  turn: Turn,
): AsyncGenerator<LoopEventBody, CheckFinished[] | undefined> {
  const { iteration } = turn;
  const jobs = checks.map((command, index): Job => {
    const log = join(place.folderFor(iteration), `check-${index + 1}.log`);
    return {
      command,
      async run(kill) {
        const keep = { chars: RAW_CHARS, from: "end" as const };
        const result = await runCheck({ command, timeoutMs: checkTimeoutMs }, { ...place, kill, log, keep });
        const output = ending(readable(result.output), OUTPUT_CHARS);
        return checkFinished({ iteration, command, log }, result, output);
      },
    };
  });
  return runJobs(jobs, place.schedule, turn);
}
