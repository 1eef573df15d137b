import { formatDuration } from "../duration.js";
import type { LoopEvent } from "../events.js";
import { activeMsUntil, type RunState } from "../records/run-state.js";
import { formatCost } from "./figures.js";
import { harmless } from "./harmless.js";
import { type ByEvent, shownBy } from "./view.js";

/** What the run is doing now, and until when if it waits. */
interface Activity {
  text: string;
  until?: string;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_FRAMES = ["|", "/", "-", "\\"];
const REDRAW_MS = 200;
const CLEAR = "\r\u001b[K";

/** One line at the bottom of a terminal that says what is going on now. */
export function createStatusLine(
  terminal: NodeJS.WriteStream,
  useEmoji: boolean,
  cut: (text: string, columns: number) => string,
) {
  const frames = useEmoji ? FRAMES : PLAIN_FRAMES;
  let activity: Activity = { text: "starting" };
  let current: Readonly<RunState> | undefined;
  let frame = 0;
  const draw = (): void => {
    frame = (frame + 1) % frames.length;
    const text = current === undefined ? activity.text : statusText(current, activity, Date.now());
    terminal.write(`${CLEAR}${cut(`${frames[frame]} ${text}`, (terminal.columns ?? 80) - 1)}`);
  };
  const timer = setInterval(draw, REDRAW_MS).unref();
  return {
    update(event: LoopEvent, state: Readonly<RunState>): void {
      current = state;
      activity = shownBy(ACTIVITIES, event, state) ?? activity;
    },
    /** Takes the line away before something else is printed; it comes back by itself. */
    clear: (): void => void terminal.write(CLEAR),
    close(): void {
      clearInterval(timer);
      terminal.write(CLEAR);
    },
  };
}

const asking = (_: LoopEvent, { retries, iteration }: Readonly<RunState>): Activity => ({
  text: retries === undefined ? "asking the agent" : (iteration?.mode ?? ""),
});

/** What goes on since an event; the others change nothing. */
const ACTIVITIES: ByEvent<[state: Readonly<RunState>], Activity | undefined> = {
  "run.paused": () => ({ text: "paused" }),
  "iteration.started": asking,
  "agent.started": asking,
  "agent.event"({ event }) {
    if (event.type === "tool_start") return { text: `${event.name}(${event.input})` };
    return event.type === "tool_end" || event.type === "text" ? { text: "thinking" } : undefined;
  },
  "limit.waiting": ({ agent, until }) => ({ text: `usage limit of ${agent}`, until }),
  "check.started": ({ command }) => ({ text: `check ${command}` }),
  "backoff.started": ({ seconds }) => ({ text: `waiting ${seconds}s before the next try` }),
};

export function statusText(state: Readonly<RunState>, { text, until }: Activity, now: number): string {
  const { iteration, limits, asked, costUsd } = state;
  const parts = [
    iteration === undefined ? "" : `iteration ${iteration.iteration}/${limits?.maxIterations ?? 0}`,
    asked,
    formatDuration(activeMsUntil(now, state, true)),
    costUsd === null ? "" : formatCost(costUsd),
    until === undefined ? "" : `${countdown(Date.parse(until) - now)} left`,
    text,
  ];
  return harmless(parts.filter(Boolean).join(" · ")).replace(/\s+/g, " ");
}

/** `1:59:07`, `4:05` */
function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number): string => String(value % 60).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes)}:${two(seconds)}`;
}
