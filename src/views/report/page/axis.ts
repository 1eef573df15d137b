import type { IterationReport } from "../../../records/iteration.js";
import type { Report } from "../../../records/report.js";

/** Where an iteration stands on the axis of time; milliseconds, from the beginning of the axis. */
export interface Span {
  iteration: IterationReport;
  /** How long nothing was at work before it, and how much of that is drawn. */
  waitMs: number;
  drawnMs: number;
  startMs: number;
  agentMs: number;
  /** Checks, commits, and what else is not the agent. */
  restMs: number;
}

interface Axis {
  spans: Span[];
  totalMs: number;
}

/** A night's pause drawn in full would leave no room for the work. */
const LONGEST_WAIT = 0.1;

export function axisOf(report: Report): Axis {
  const worked = report.iterations.reduce((sum, iteration) => sum + lengthOf(iteration, report), 0);
  const axis: Axis = { spans: [], totalMs: 0 };
  for (const iteration of report.iterations) {
    const waitMs = waitBetween(axis.spans.at(-1), iteration);
    const drawnMs = Math.min(waitMs, worked * LONGEST_WAIT);
    const startMs = axis.totalMs + drawnMs;
    axis.spans.push({ iteration, waitMs, drawnMs, startMs, ...partsOf(iteration, report) });
    axis.totalMs = startMs + lengthOf(iteration, report);
  }
  return axis;
}

export function partsOf(iteration: IterationReport, report: Report): Pick<Span, "agentMs" | "restMs"> {
  const length = lengthOf(iteration, report);
  const isAgentAtWork = !iteration.finished && iteration.agentMs === 0;
  const agentMs = isAgentAtWork ? length : Math.min(iteration.agentMs, length);
  return { agentMs, restMs: length - agentMs };
}

/** One that has not finished: what its parts took; without any, the time until the last record. */
function lengthOf(iteration: IterationReport, { iterations, lastAt }: Report): number {
  if (iteration.finished) return iteration.durationMs;
  const known = iteration.checks.reduce((sum, { durationMs }) => sum + durationMs, iteration.agentMs);
  return known === 0 && iteration === iterations.at(-1) ? between(iteration.startedAt, lastAt) : known;
}

function waitBetween(before: Span | undefined, { startedAt }: IterationReport): number {
  if (before === undefined) return 0;
  return Math.max(0, between(before.iteration.startedAt, startedAt) - before.agentMs - before.restMs);
}

function between(from: string, to: string): number {
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
