import { formatDuration } from "../../../duration.js";
import { finishedIterations, type Report } from "../../../records/report.js";
import { formatCached, formatCost, formatCount } from "../../figures.js";
import { worktreeRows } from "../../summary.js";
import { backgroundOf, resumeOf, titleOf } from "../words.js";
import { outcomeOfRun, signOf } from "./charts.js";
import { beginning, html, type Markup, type Part } from "./markup.js";

/** What came of the run, whose it was, and what it took. */
export function header(report: Report): Markup {
  const resume = resumeOf(report);
  return html`<header>
    <p class="run">ralph run <code>${report.run}</code></p>
    <h1>${signOf(outcomeOfRun(report))} <span>${titleOf(report)}</span></h1>
    ${report.message === null ? null : html`<p class="message">${beginning(report.message)}</p>`}
    ${resume === null ? null : html`<p class="message">To go on: <code>${resume}</code></p>`}
    <dl class="facts">${facts(report).map(fact)}</dl>
    <dl class="totals">${totals(report).map(fact)}</dl>
  </header>`;
}

type Fact = [name: string, value: Part];

function fact([name, value]: Fact): Markup | null {
  return value === null ? null : html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function facts(report: Report): Fact[] {
  return [
    ["Task", report.task === "" ? null : beginning(report.task)],
    ["Agent", code(beginning(report.agent))],
    ["Recipe", code(report.recipe)],
    ["Workspace", code(report.workspace)],
    ["When", whenOf(report)],
    ["Background", backgroundOf(report)],
    ...worktreeRows(report).map(([name, value]): Fact => {
      return [name.charAt(0).toUpperCase() + name.slice(1), code(value ?? "")];
    }),
  ];
}

function code(text: string): Markup | null {
  return text === "" ? null : html`<code>${text}</code>`;
}

const DAY_AND_TIME = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});

/** `26 Jan 2026, 18:55 to 19:20 UTC`: of the end no more than what differs from the beginning. */
function whenOf({ startedAt, lastAt, reason }: Report): Markup | null {
  const [from, to] = [new Date(startedAt), new Date(lastAt)];
  if (Number.isNaN(from.getTime())) return null;
  const start = DAY_AND_TIME.format(from);
  const begin = html`<time datetime="${startedAt}">${start}</time>`;
  const until = Number.isNaN(to.getTime()) ? start : DAY_AND_TIME.format(to);
  if (until === start) return html`${begin} UTC`;
  const isSameDay = startedAt.slice(0, 10) === lastAt.slice(0, 10);
  const end = html`<time datetime="${lastAt}">${isSameDay ? until.slice(-5) : until}</time>`;
  return reason === null ? html`since ${begin}, last record ${end} UTC` : html`${begin} to ${end} UTC`;
}

function totals(report: Report): Fact[] {
  const { durationMs, costUsd, filesChanged, limits } = report;
  const remark = report.costEstimated ? " (estimated)" : "";
  return [
    ["Iterations", used(finishedIterations(report), String, "", limits.maxIterations)],
    ["Time", used(durationMs, formatDuration, "", limits.maxTimeMs)],
    ["Cost", used(costUsd, formatCost, remark, limits.maxCostUsd)],
    ["Tokens in", used(report.inputTokens, formatCount, formatCached(report.cacheReadTokens))],
    ["Tokens out", used(report.outputTokens, formatCount)],
    ["Files changed", used(filesChanged, String)],
  ];
}

/** Nothing for what is unknown or never happened. */
function used(
  value: number | null,
  format: (value: number) => string,
  remark = "",
  limit: number | null = null,
): Markup | null {
  if (value === null || value === 0) return null;
  return html`${format(value)}${remark}${limit === null ? null : html` <small>of ${format(limit)}</small>`}`;
}
