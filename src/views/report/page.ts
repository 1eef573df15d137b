import { formatDuration } from "../../duration.js";
import { type CheckReport, type IterationReport, wasNotRun } from "../../records/iteration.js";
import type { Report } from "../../records/report.js";
import { formatTokens, joined, plural } from "../figures.js";
import { brief } from "../harmless.js";
import { checkRows, checkWords } from "./facts.js";
import type { CheckLine, CheckRow, Detail, Look, PageIteration } from "./shapes.js";

/** What the pages of a run show: `ralph report --html` draws it at once, the dashboard sends it as JSON. */

function lookOfIteration(one: IterationReport, { status }: Pick<Report, "status">): Look {
  if (!one.finished) return !one.cutOff && /^(running|waiting)$/.test(status) ? "at-work" : "cut-off";
  if (one.error !== null) return "agent-failed";
  return one.passed ? "passed" : "failed";
}

export function lookOfRun({ reason, success, exitCode, status }: Report): Look {
  if (success) return "passed";
  // Nothing was verified.
  if (exitCode === 0) return "cut-off";
  if (reason === null) return status === "crashed" || status === "finished" ? "cut-off" : "at-work";
  if (reason === "interrupted") return "cut-off";
  return reason === "agent_failed" ? "agent-failed" : "failed";
}

function lookOfCheck(check: CheckReport | undefined): Look {
  if (check === undefined || wasNotRun(check)) return "not-run";
  if (check.skipped !== null) return "same";
  return check.passed ? "passed" : "failed";
}

/** The agent's part of an iteration; and checks, commits and what else is not the agent. */
function timesOf({ finished, durationMs, agentMs }: IterationReport) {
  const length = Math.max(durationMs, agentMs);
  const own = finished || agentMs > 0 ? agentMs : length;
  return { agentMs: own, restMs: length - own };
}

export function pageIterations(report: Report): PageIteration[] {
  const ends = new Map<string | null, number>();
  return report.iterations.map((one) => {
    const { iteration, mode, about, costUsd, costEstimated, error, finished, reason } = one;
    const { agentMs, restMs } = timesOf(one);
    const lane = one.lane ?? null;
    const startedAt = Date.parse(one.startedAt);
    const waitMs = Math.max(0, startedAt - (ends.get(lane) ?? Number.NaN)) || 0;
    ends.set(lane, startedAt + agentMs + restMs);
    return {
      ...{ iteration, lane, mode, about, look: lookOfIteration(one, report) },
      why: finished || error !== null ? brief(error ?? reason) : "",
      ...{ waitMs, agentMs, restMs, costUsd, costEstimated: costEstimated === true },
      ...{ tokens: one.inputTokens + one.outputTokens, spent: spentIn(one, report) },
      checks: one.checks.map(lookOfCheck),
    };
  });
}

/** What it took besides its cost, in words. */
function spentIn(iteration: IterationReport, report: Report): string {
  const { agentMs, restMs } = timesOf(iteration);
  const { agent, tools, toolErrors, checks } = iteration;
  const tokens = formatTokens(iteration);
  return joined(
    agent !== report.agent && agent !== null && brief(agent),
    `agent ${formatDuration(agentMs)}`,
    checks.length > 0 && `checks ${formatDuration(restMs)}`,
    tokens && `tokens ${tokens}`,
    tools > 0 && plural(tools, "tool call"),
    toolErrors > 0 && plural(toolErrors, "tool error"),
  );
}

const COMMAND_CHARS = 300;

export function pageChecks(report: Report): CheckRow[] {
  return checkRows(report).map(({ command, results, became }) => ({
    ...{ command: brief(command, COMMAND_CHARS), became },
    cells: results.map((check) => ({
      look: lookOfCheck(check),
      words: check === undefined ? "not run" : checkWords(check),
    })),
  }));
}

/** What is behind an iteration. */
export function detailOf({ finalMessage, error, checks, violations, scm }: IterationReport): Detail {
  return {
    ...{ error: error ?? "", finalMessage, checks: checks.map(checkLine) },
    violations: violations.map(({ what, file }) => joined(file, what)),
    commits: scm.map(({ task, passed, message }) => ({ task, passed, message })),
  };
}

function checkLine(check: CheckReport): CheckLine {
  const look = lookOfCheck(check);
  const line = { look, command: brief(check.command, COMMAND_CHARS), words: checkWords(check) };
  return look === "failed" ? { ...line, output: check.output, log: check.log } : line;
}
