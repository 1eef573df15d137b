import { setTimeout as sleep } from "node:timers/promises";
import type { CheckReport } from "../../records/iteration.js";
import { advanceRun } from "../../records/lanes.js";
import type { FollowedEvent } from "../../records/read.js";
import type { Redact } from "../../records/redact.js";
import { initialState } from "../../records/run-state.js";
import type { ConsoleFormatter } from "../agent-lines.js";
import { linesOf } from "../lines.js";
import { summaryLines } from "../summary.js";

/** The output of a run, as far as it was read. */
export interface Live {
  run: string;
  lines: string[];
  /** Those of the last iteration, as far as they ran. */
  checks: Pick<CheckReport, "command" | "passed" | "skipped">[];
}

/** The events of a run: without an offset, the latest ones. */
export type Follow = (
  run: string,
  from: number | undefined,
  signal: AbortSignal,
) => AsyncIterable<FollowedEvent>;

interface FeedOptions {
  follow: Follow;
  /** A formatter keeps state for later lines: each run gets its own. */
  format: () => ConsoleFormatter;
  redact: Redact;
  changed(live: Live): void;
}

const MOST_LINES = 2000;
/** Events within this time are shown together. */
const SHOW_MS = 40;
/** How often to check a run that has ended: it may be resumed. */
const POLL_MS = 500;

export function liveFeed(options: FeedOptions) {
  let current: { run: string; stop: AbortController } | undefined;
  return {
    select(run: string | undefined): void {
      if (run === current?.run) return;
      current?.stop.abort();
      current = run === undefined ? undefined : { run, stop: new AbortController() };
      if (current !== undefined) void feed(current.run, current.stop.signal, options);
    },
    close: (): void => current?.stop.abort(),
  };
}

async function feed(run: string, signal: AbortSignal, options: FeedOptions): Promise<void> {
  const format = options.format();
  const state = initialState(run);
  const live: Live = { run, lines: [], checks: [] };
  let from: number | undefined;
  let isPlanned = false;
  const show = (): void => {
    if (isPlanned) return;
    isPlanned = true;
    setTimeout(() => {
      isPlanned = false;
      if (!signal.aborted) options.changed({ ...live });
    }, SHOW_MS);
  };
  const take = ({ event, offset }: FollowedEvent): void => {
    from = offset;
    advanceRun(state, event);
    const end = event.type === "run.finished" ? summaryLines(event, { resumable: false }, state, format) : [];
    const lines = [...linesOf(event, state, format, true), ...end].flatMap((text) => text.split("\n"));
    live.lines = [...live.lines, ...lines.map(options.redact)].slice(-MOST_LINES);
    live.checks = state.iteration?.checks ?? [];
    if (lines.length > 0) show();
  };
  show();
  while (!signal.aborted) {
    try {
      for await (const followed of options.follow(run, from, signal)) if (!signal.aborted) take(followed);
    } catch {
      // Records that cannot be read are named in the list.
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
}
