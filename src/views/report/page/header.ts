import { formatDuration } from "../../../duration.js";
import { finishedIterations, type Report } from "../../../records/report.js";
import { formatCost, formatCount } from "../../figures.js";
import { howToResume, worktreeRows } from "../../summary.js";
import { backgroundOf } from "../words.js";
import { html, type Markup, type Part } from "./markup.js";
import { headlineOf, signOf } from "./outcome.js";
import { beginning } from "./said.js";
import { whenOf } from "./when.js";

/** What came of the run, whose it was, and what it took. */
export function header(report: Report): Markup {
  const { outcome, title } = headlineOf(report);
  return html`<header>
    <p class="run">ralph run <code>${report.run}</code></p>
    <h1>${signOf(outcome)} <span>${title}</span></h1>
    ${report.message === null ? null : html`<p class="message">${beginning(report.message)}</p>`}
    ${goOn(report)}
    <dl class="facts">${facts(report).map(fact)}</dl>
    <dl class="totals">${totals(report).map(fact)}</dl>
  </header>`;
}

type Fact = [name: string, value: Part];

function facts(report: Report): Fact[] {
  const { agent, recipe, workspace, task } = report;
  const all: Fact[] = [
    ["Task", task === "" ? null : html`${beginning(task)}`],
    ["Agent", code(beginning(agent))],
    ["Recipe", code(recipe)],
    ["Workspace", code(workspace)],
    ["When", whenOf(report)],
    ["Background", backgroundOf(report)],
    ...worktreeRows(report).map(([name, value]): Fact => [titled(name), value === null ? null : code(value)]),
  ];
  return all.filter(([, value]) => value !== null);
}

function totals(report: Report): Fact[] {
  const { durationMs, costUsd, inputTokens, outputTokens, filesChanged, limits } = report;
  const cached = report.cacheReadTokens ? ` (${formatCount(report.cacheReadTokens)} cached)` : "";
  const all: Fact[] = [
    ["Iterations", ofLimit(finishedIterations(report), limits.maxIterations, String)],
    ["Time", ofLimit(durationMs, limits.maxTimeMs, formatDuration)],
    ["Cost", ofLimit(costUsd, limits.maxCostUsd, formatCost, report.costEstimated ? " (estimated)" : "")],
    ["Tokens in", ofLimit(inputTokens, null, formatCount, cached)],
    ["Tokens out", ofLimit(outputTokens, null, formatCount)],
    ["Files changed", ofLimit(filesChanged, null, String)],
  ];
  return all.filter(([, value]) => value !== null);
}

/** Nothing for what is unknown or never happened. */
function ofLimit(
  used: number | null,
  limit: number | null,
  format: (value: number) => string,
  remark = "",
): Markup | null {
  if (used === null || used === 0) return null;
  return html`${format(used)}${remark}${limit === null ? null : html` <small>of ${format(limit)}</small>`}`;
}

function titled(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function fact([name, value]: Fact): Markup {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function code(text: string): Markup | null {
  return text === "" ? null : html`<code>${text}</code>`;
}

/** How to go on with a run that is not done. */
function goOn(report: Report): Markup | null {
  const command = report.status === "running" ? null : howToResume(report.run, report);
  return command === null ? null : html`<p class="message">To go on: <code>${command}</code></p>`;
}
