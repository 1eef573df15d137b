import { availableParallelism } from "node:os";
import { join } from "node:path";
import { compilePatterns } from "../patterns.js";
import { digest, readJson, writeAtomic } from "../records/files.js";
import { stateOf } from "../workspace/content.js";
import { type Check, type CheckResult, hasFailed } from "./check.js";
import { findFiles } from "./protected/find.js";

export interface Speed {
  /** How many at the same time; true: as many as there are processors. */
  parallel?: boolean | number | undefined;
  /** The one that failed last time first, and none after one that fails. */
  failFast?: boolean | undefined;
  /** By command: patterns of the files that it depends on. */
  inputs?: Record<string, string[]> | undefined;
}

/**
 * What is known of the checks of a run, in its records: the state of the inputs with which a check passed last, and
 * the commands that failed when they were last run.
 */
type KnownResults = { passed: Record<string, string>; failed: string[] };

export type Schedule = ReturnType<typeof createSchedule>;

/** In which order, how many at a time, and which not at all. */
export function createSchedule(
  { parallel = 1, failFast = false, inputs: byCommand = {} }: Speed,
  { workspace, records }: { workspace: string; records: string },
) {
  const path = join(records, "checks.json");
  const read = readJson(path) as Partial<KnownResults> | undefined;
  const known: KnownResults = { passed: {}, failed: [], ...read };
  const states = new Map<Check, string | undefined>();
  const patternsOf = ({ command, inputs: own }: Check): readonly string[] | undefined =>
    own ?? (Object.hasOwn(byCommand, command) ? byCommand[command] : undefined);
  const nameOf = (check: Check): string => JSON.stringify([check.command, patternsOf(check)]);

  return {
    parallel: typeof parallel === "number" ? parallel : parallel ? availableParallelism() : 1,
    failFast,
    /** The checks by their places, as they are to be started. */
    order(checks: Check[]): number[] {
      const failedBefore = (place: number): boolean => known.failed.includes(checks[place]?.command ?? "");
      const places = [...checks.keys()];
      if (failFast) places.sort((a, b) => Number(failedBefore(b)) - Number(failedBefore(a)));
      return places;
    },
    /** Whether it would pass as it did the last time. */
    async isUnchanged(check: Check): Promise<boolean> {
      const patterns = patternsOf(check);
      const state = patterns === undefined ? undefined : await inputState(patterns, workspace);
      states.set(check, state);
      return state !== undefined && known.passed[nameOf(check)] === state;
    },
    learn(results: CheckResult[]): void {
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

/** A word for the files that a check depends on; undefined: there are none, as in a folder that does not exist. */
async function inputState(patterns: readonly string[], workspace: string): Promise<string | undefined> {
  const files = [...findFiles(compilePatterns(patterns), workspace).files.values()];
  const states = files.map(({ shown, real }) => `${shown}\0${stateOf(real, Number.POSITIVE_INFINITY)}`);
  return files.length === 0 ? undefined : digest(states.sort().join("\0"));
}
