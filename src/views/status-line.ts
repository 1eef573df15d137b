import { formatDuration } from "../duration.js";
import type { LoopEvent } from "../events.js";
import { activeMsUntil, type RunState } from "../records/run-state.js";
import { formatCost, joined } from "./figures.js";
import { harmless } from "./harmless.js";
import { lanesStatus } from "./lane-lines.js";
import { type ByEvent, shownBy } from "./view.js";

interface Activity {
  text: string;
  until?: string;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_FRAMES = ["|", "/", "-", "\\"];
const REDRAW_MS = 200;
const CLEAR = "\r\u001b[K";

export function createStatusLine(useEmoji: boolean, cut: (text: string, columns: number) => string) {
  const terminal = process.stderr;
  const frames = useEmoji ? FRAMES : PLAIN_FRAMES;
  let activity: Activity = { text: "starting" };
  let current: Readonly<RunState> | undefined;
  let frame = 0;
  const draw = (): void => {
    frame = (frame + 1) % frames.length;
    const text = current === undefined ? activity.text : statusText(current, activity, Date.now());
    terminal.write(`${CLEAR}${cut(`${frames[frame]} ${text}`, (terminal.columns || 80) - 1)}`);
  };
  const timer = setInterval(draw, REDRAW_MS).unref();
  /** Clears the line before other output; the next redraw brings it back. */
  const clear = (): void => void terminal.write(CLEAR);
  return {
    clear,
    update(event: LoopEvent, state: Readonly<RunState>): void {
      current = state;
      activity = shownBy(ACTIVITIES, event, state) ?? activity;
    },
    close(): void {
      clearInterval(timer);
      clear();
    },
  };
}

const asking = (_: LoopEvent, { retries, iteration }: Readonly<RunState>): Activity => ({
  text: retries === undefined ? "asking the agent" : (iteration?.mode ?? ""),
});

/** The activity that an event starts; other events change nothing. */
const ACTIVITIES: ByEvent<[state: Readonly<RunState>], Activity | undefined> = {
  "run.paused": () => ({ text: "paused" }),
  "iteration.started": asking,
  "agent.started": asking,
  "agent.event"({ event }) {
    if (event.type === "tool_start") return { text: `${event.name}(${event.input})` };
    return event.type === "tool_end" || event.type === "text" ? { text: "thinking" } : undefined;
  },
  "limit.waiting": ({ agent, until }) => ({ text: `usage limit of ${agent}`, until }),
  "check.started": ({ name, command }) => ({ text: `check ${name ?? command}` }),
  "backoff.started": ({ seconds }) => ({ text: `waiting ${seconds}s before the next try` }),
};

export function statusText(state: Readonly<RunState>, { text, until }: Activity, now: number): string {
  const { iteration, limits, asked, costUsd, lanes } = state;
  if (lanes !== undefined) return harmless(lanesStatus(state, lanes, now)).replace(/\s+/g, " ");
  const line = joined(
    iteration && `iteration ${iteration.iteration}/${limits?.maxIterations ?? 0}`,
    iteration?.about,
    asked,
    formatDuration(activeMsUntil(now, state, true)),
    costUsd !== null && formatCost(costUsd),
    until && `${formatDuration(Math.max(0, Date.parse(until) - now))} left`,
    text,
  );
  return harmless(line).replace(/\s+/g, " ");
}
