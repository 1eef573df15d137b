import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { compilePatterns } from "../patterns.js";
import { digest } from "../records/digest.js";
import { writeAtomic } from "../records/files.js";
import { stateOf } from "../workspace/content.js";
import { type Check, hasFailed } from "./check.js";
import { findFiles } from "./protected/find.js";
import type { Schedule } from "./schedule.js";

/** How checks are made quicker. */
export interface Speed {
  /** How many at the same time; true: as many as there are processors. */
  parallel?: boolean | number | undefined;
  /** The one that failed last time first, and none after one that fails. */
  failFast?: boolean | undefined;
  /** By command: patterns of the files that it depends on. */
  inputs?: Record<string, string[]> | undefined;
}

/** What is known of the checks of a run, in its records: it is still known when the run goes on. */
interface Known {
  /** State of the inputs with which a check passed last. */
  passed: Record<string, string>;
  /** Commands that failed when they were last run. */
  failed: string[];
}

export function createSchedule(
  { parallel = 1, failFast = false, inputs: byCommand = {} }: Speed,
  { workspace, records }: { workspace: string; records: string },
): Schedule {
  const path = join(records, "checks.json");
  const known = readKnown(path);
  const states = new Map<Check, string | undefined>();
  const patternsOf = ({ command, inputs: own }: Check): readonly string[] | undefined =>
    own ?? (Object.hasOwn(byCommand, command) ? byCommand[command] : undefined);
  const nameOf = (check: Check): string => JSON.stringify([check.command, patternsOf(check)]);

  return {
    parallel: typeof parallel === "number" ? parallel : parallel ? availableParallelism() : 1,
    failFast,
    order(checks) {
      const places = checks.map((_, place) => place);
      if (!failFast) return places;
      const failedBefore = (place: number): boolean => known.failed.includes(checks[place]?.command ?? "");
      return [...places.filter(failedBefore), ...places.filter((place) => !failedBefore(place))];
    },
    async isUnchanged(check) {
      const patterns = patternsOf(check);
      const state = patterns === undefined ? undefined : await inputState(patterns, workspace);
      states.set(check, state);
      return state !== undefined && known.passed[nameOf(check)] === state;
    },
    learn(results) {
      for (const { check, event } of results.filter(({ event }) => event.skipped === undefined)) {
        const state = states.get(check);
        known.failed = known.failed.filter((command) => command !== check.command);
        delete known.passed[nameOf(check)];
        if (hasFailed({ event })) known.failed.push(check.command);
        else if (state !== undefined) known.passed[nameOf(check)] = state;
      }
      writeAtomic(path, `${JSON.stringify(known)}\n`);
    },
  };
}

/** A word for the state of the files that a check depends on; undefined: there are none, as in a folder that does not exist. */
async function inputState(patterns: readonly string[], workspace: string): Promise<string | undefined> {
  const files = [...findFiles(compilePatterns(patterns), workspace).files.values()];
  const sorted = files.sort((a, b) => (a.shown < b.shown ? -1 : 1));
  const states = sorted.flatMap(({ shown, real }) => [shown, stateOf(real, Number.POSITIVE_INFINITY)]);
  return files.length === 0 ? undefined : digest(states.join("\0"));
}

/** Without it every check is run. */
function readKnown(path: string): Known {
  const fresh: Known = { passed: {}, failed: [] };
  try {
    return existsSync(path) ? { ...fresh, ...(JSON.parse(readFileSync(path, "utf8")) as Known) } : fresh;
  } catch {
    return fresh;
  }
}
