import type { IterationReport, Report } from "../model.js";

/** Where an iteration stands on the axis of time, in milliseconds from its beginning. */
export interface Span {
  startMs: number;
  agentMs: number;
  /** Checks, commits, and what else is not the agent. */
  restMs: number;
}

export interface Axis {
  spans: Span[];
  totalMs: number;
  /** Waits that are drawn shorter than they were: a night's pause would leave no room for the work. */
  shortened: number[];
}

const LONGEST_WAIT = 0.05;

export function axisOf(report: Report): Axis {
  const parts = report.iterations.map((iteration) => partsOf(iteration, report));
  const worked = parts.reduce((sum, { agentMs, restMs }) => sum + agentMs + restMs, 0);
  const axis: Axis = { spans: [], totalMs: 0, shortened: [] };
  for (const [index, part] of parts.entries()) {
    const wait = waitBefore(report.iterations, parts, index);
    const drawn = Math.min(wait, worked * LONGEST_WAIT);
    if (drawn < wait) axis.shortened.push(wait);
    axis.spans.push({ startMs: axis.totalMs + drawn, ...part });
    axis.totalMs += drawn + part.agentMs + part.restMs;
  }
  return axis;
}

export function partsOf(iteration: IterationReport, report: Report): Omit<Span, "startMs"> {
  const length = lengthOf(iteration, report);
  const agentMs = Math.min(iteration.agentMs, length);
  if (!iteration.finished && iteration.agentMs === 0) return { agentMs: length, restMs: 0 };
  return { agentMs, restMs: length - agentMs };
}

/** One that has not finished lasts until the last thing that is known of it. */
function lengthOf(iteration: IterationReport, report: Report): number {
  if (iteration.finished) return iteration.durationMs;
  const known = iteration.checks.reduce((sum, { durationMs }) => sum + durationMs, iteration.agentMs);
  const isLast = report.iterations.at(-1) === iteration;
  return Math.max(known, isLast ? between(iteration.startedAt, report.lastAt) : 0);
}

function waitBefore(iterations: IterationReport[], parts: Omit<Span, "startMs">[], index: number): number {
  const [before, after, part] = [iterations[index - 1], iterations[index], parts[index - 1]];
  if (before === undefined || after === undefined || part === undefined) return 0;
  return Math.max(0, between(before.startedAt, after.startedAt) - part.agentMs - part.restMs);
}

function between(from: string, to: string): number {
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
