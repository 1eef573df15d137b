import { formatDuration } from "../duration.js";
import type { AgentEvent, LoopEvent } from "../events.js";
import { formatCost } from "./figures.js";
import { harmless } from "./harmless.js";

export interface StatusLine {
  update(parts: Partial<Status>): void;
  /** Takes the line away before something else is printed; it comes back by itself. */
  clear(): void;
  close(): void;
}

interface Status {
  maxIterations: number;
  iteration: number;
  agent: string;
  activity: string;
  costUsd: number | null;
  /** Time at work when the clock was set, and when that was; null: it stands still. */
  activeMs: number;
  since: number | null;
  /** When a wait ends, as far as it waits. */
  until: number | null;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_FRAMES = ["|", "/", "-", "\\"];
const REDRAW_MS = 200;
const CLEAR = "\r\u001b[K";

/** One line at the bottom of a terminal that says what is going on now. */
export function createStatusLine(terminal: NodeJS.WriteStream, useEmoji: boolean): StatusLine {
  const frames = useEmoji ? FRAMES : PLAIN_FRAMES;
  let status: Status = {
    maxIterations: 0,
    iteration: 0,
    agent: "",
    activity: "starting",
    costUsd: null,
    activeMs: 0,
    since: performance.now(),
    until: null,
  };
  let frame = 0;
  const draw = (): void => {
    frame = (frame + 1) % frames.length;
    const line = `${frames[frame]} ${textOf(status, performance.now(), Date.now())}`;
    terminal.write(`${CLEAR}${line.slice(0, (terminal.columns ?? 80) - 1)}`);
  };
  const timer = setInterval(draw, REDRAW_MS).unref();
  return {
    update(parts) {
      const isOver = status.until !== null && parts.until === null && parts.since === undefined;
      status = { ...status, ...parts, ...(isOver && { since: performance.now() }) };
    },
    clear: () => void terminal.write(CLEAR),
    close() {
      clearInterval(timer);
      terminal.write(CLEAR);
    },
  };
}

/** What an event changes in the status line. */
export function statusOf(event: LoopEvent): Partial<Status> {
  switch (event.type) {
    case "run.started":
      return { maxIterations: event.limits.maxIterations, agent: event.agent };
    case "run.resumed":
      return {
        ...(event.limits && { maxIterations: event.limits.maxIterations }),
        agent: event.agent,
        activeMs: event.activeMs,
        since: performance.now(),
      };
    case "run.paused":
      return { activity: "paused", activeMs: event.activeMs, since: null, until: null };
    case "iteration.started":
      return {
        iteration: event.iteration,
        activity: event.retries === undefined ? "asking the agent" : (event.mode ?? ""),
        until: null,
      };
    case "limit.waiting":
      return {
        activity: `usage limit of ${event.agent}`,
        activeMs: event.activeMs,
        since: null,
        until: Date.parse(event.until),
      };
    case "agent.started":
      return { agent: event.agent, until: null };
    case "agent.event":
      return activityOf(event.event);
    case "check.started":
      return { activity: `check ${event.command}` };
    case "backoff.started":
      return { activity: `waiting ${event.seconds}s before the next try` };
    case "iteration.finished": {
      const { costUsd, activeMs } = event.totals;
      return { costUsd, activeMs, since: performance.now() };
    }
    default:
      return {};
  }
}

function activityOf(event: AgentEvent): Partial<Status> {
  if (event.type === "tool_start") return { activity: `${event.name}(${event.input})` };
  return event.type === "tool_end" || event.type === "text" ? { activity: "thinking" } : {};
}

function textOf(status: Status, now: number, wallNow: number): string {
  const { iteration, maxIterations, agent, activity, costUsd, activeMs, since, until } = status;
  const elapsedMs = activeMs + (since === null ? 0 : now - since);
  const parts = [
    iteration === 0 ? "" : `iteration ${iteration}/${maxIterations}`,
    agent,
    formatDuration(elapsedMs),
    costUsd === null ? "" : formatCost(costUsd),
    until === null ? "" : `${countdown(until - wallNow)} left`,
    activity,
  ];
  return harmless(parts.filter(Boolean).join(" · ")).replace(/\s+/g, " ");
}

/** `1:59:07`, `4:05` */
function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [first, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return [String(first), ...rest.map((part) => String(part).padStart(2, "0"))].join(":");
}
