import { createHash } from "node:crypto";
import { formatDuration } from "../../duration.js";
import type { CheckReport, IterationReport } from "../../records/iteration.js";
import type { Report } from "../../records/report.js";
import { costCell, formatTokens, joined, plural } from "../figures.js";
import { brief } from "../harmless.js";
import type { SummaryRow } from "../summary.js";
import {
  columns,
  outcomeOf,
  outcomeOfRun,
  type PageOutcome,
  signOf,
  timeline,
  timesOf,
  wordOf,
} from "./charts.js";
import * as facts from "./facts.js";
import { beginning, type Content, html, type Markup, said, section, styleSheet } from "./markup.js";
import { receiptPart, type ShownReceipt } from "./receipt.js";

/** A run as one page that needs nothing else: no script, no font, no picture, no request. */
export function htmlReport(report: Report, receipt?: ShownReceipt): string {
  const styles = styleSheet();
  // Nothing is allowed but the style sheet, known by its hash.
  const hash = createHash("sha256").update(styles.toString()).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const changed = (text: string, column: number): Content =>
    column === 0 ? html`<span class="${text}">${text}</span>` : text;
  const page = html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="referrer" content="no-referrer">
  <title>${facts.titleOf(report)} · ralph run ${report.run}</title>
  <style>${styles}</style>
</head>
<body>
  ${header(report)}
  <main>
    ${timeline(report)}
    ${columns(report)}
    ${table(facts.storyTable(report))}
    ${grid(report)}
    ${receipt === undefined ? null : receiptPart(receipt, report.run)}
    ${table(facts.fileTable(report, Number.POSITIVE_INFINITY), changed)}
    ${iterations(report)}
  </main>
  <footer><p>Made by ralph from the records of run <code>${report.run}</code>.</p></footer>
</body>
</html>
`;
  return page.toString();
}

const TOTALS = ["iterations", "time", "cost", "tokens", "files"];

function header(report: Report): Markup {
  const rows = facts.factsOf(report).slice(1);
  const shown = (isTotal: boolean): Content[] =>
    rows.filter(([name]) => TOTALS.includes(name) === isTotal).map(fact);
  return html`<header>
    <p class="run">ralph run <code>${report.run}</code></p>
    <h1>${signOf(outcomeOfRun(report))} <span>${facts.titleOf(report)}</span></h1>
    <dl class="facts">${shown(false)}</dl>
    <dl class="totals">${shown(true)}</dl>
  </header>`;
}

function fact([name, value]: SummaryRow): Content {
  if (value == null) return null;
  // Of a figure the first word is the one to see.
  const [, amount, more = ""] = TOTALS.includes(name) ? (/^(\S+) ?(.*)$/.exec(value) ?? []) : [];
  const words = amount === undefined ? beginning(value) : html`${amount} <small>${more}</small>`;
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return html`<div><dt>${title}</dt><dd>${facts.COPIED.includes(name) ? html`<code>${words}</code>` : words}</dd></div>`;
}

function table(
  { title, head, rows, right, named, note }: facts.ReportTable,
  shown: (text: string, column: number) => Content = beginning,
): Markup | null {
  if (rows.length === 0) return null;
  const number = (column: number): Content => (right.includes(column) ? html` class="number"` : null);
  const cell = (text: string, column: number): Markup =>
    column === named
      ? html`<th scope="row"><code>${beginning(text)}</code></th>`
      : html`<td${number(column)}>${shown(text, column)}</td>`;
  return section(
    title,
    html`<table class="files">
      <thead><tr>${head.map((name, column) => html`<th scope="col"${number(column)}>${name}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${row.map(cell)}</tr>`)}</tbody>
    </table>`,
    { scrolls: "tall", below: note === undefined ? null : html`<p class="note">${note}</p>` },
  );
}

/** More columns do not fit on paper; there the cells of a row are wrapped. */
const FITS_ON_PAPER = 25;

/** A row per check, a column per iteration. */
function grid(report: Report): Markup | null {
  const rows = facts.checkRows(report);
  if (rows.length === 0) return null;
  const numbers = report.iterations.map(({ iteration }) => iteration);
  const shown = rows.map(({ command, results, became }) => {
    const ran = results.filter((result) => result !== undefined);
    const passed = ran.filter((result) => result.passed).length;
    const words = `${passed} of ${ran.length} passed${became && `, ${became}`}`;
    const name = html`<code title="${beginning(command)}">${beginning(command)}</code> <small>${words}</small>`;
    const cells = results.map((result, index) => {
      const [style, sign] =
        result === undefined ? ["not-run", ""] : result.passed ? ["passed", "✓"] : ["failed", "×"];
      const said = result === undefined ? "not run" : facts.checkWords(result);
      const shown = result?.skipped == null ? sign : "=";
      return html`<td class="${style}" title="iteration ${numbers[index] ?? 0}: ${said}"><span class="cell" aria-hidden="true">${shown}</span><span class="hidden">${said}</span></td>`;
    });
    return html`<tr><th scope="row">${name}</th>${cells}</tr>`;
  });
  return section(
    "Checks",
    html`<table class="grid ${numbers.length > FITS_ON_PAPER ? "wide" : "narrow"}">
      <thead><tr><td></td>${numbers.map((number) => html`<th scope="col">${number}</th>`)}</tr></thead>
      <tbody>${shown}</tbody>
    </table>`,
    { scrolls: "fading" },
  );
}

/** What was said and found in each iteration; all but the last are folded. */
function iterations(report: Report): Markup {
  const all = report.iterations;
  if (all.length === 0) return html`<section><p>No iteration was started.</p></section>`;
  return section(
    "Iterations",
    all.map((iteration) => folded(iteration, report, iteration === all.at(-1) ? html` open` : null)),
  );
}

function folded(iteration: IterationReport, report: Report, open: Markup | null): Markup {
  const { iteration: number, costUsd, error, finalMessage, checks, violations, scm } = iteration;
  const outcome = outcomeOf(iteration, report);
  const why = brief(error ?? iteration.reason);
  const { agentMs, restMs } = timesOf(iteration);
  const cost = costUsd === null ? "" : ` · ${costCell(costUsd, iteration.costEstimated)}`;
  const words = (text: string): Markup => html`<span class="words">${beginning(text)}</span>`;
  const commits = scm.map(({ task, passed, message }) =>
    item(passed ? "passed" : "failed", html`${task}${passed ? null : " failed"} ${words(message)}`),
  );
  return html`<details${open}>
    <summary>${signOf(outcome)} <b>Iteration ${number}</b> <span>${wordOf(outcome)}</span>
      ${why === "" || why === wordOf(outcome) ? null : html`<span class="why">${why}</span>`}
      <span class="took">${formatDuration(agentMs + restMs)}${cost}</span></summary>
    <div class="inside" id="iteration-${number}">
      <p class="note">${spent(iteration, report)}</p>
      ${labelled("The agent failed", said(error ?? "", number))}
      ${labelled("Final message", said(finalMessage, number))}
      ${labelled("Checks", list(checks.map((check) => checkItem(check, number))))}
      ${labelled("Violations", list(violations.map(({ what }) => item("failed", words(what)))))}
      ${labelled("Commits", list(commits))}
    </div>
  </details>`;
}

function spent(iteration: IterationReport, report: Report): string {
  const { agentMs, restMs } = timesOf(iteration);
  const { mode, agent, tools, toolErrors, checks } = iteration;
  const tokens = formatTokens(iteration);
  return joined(
    beginning(mode ?? ""),
    agent !== report.agent && beginning(agent ?? ""),
    `agent ${formatDuration(agentMs)}`,
    checks.length > 0 && `checks ${formatDuration(restMs)}`,
    tokens && `tokens ${tokens}`,
    tools > 0 && plural(tools, "tool call"),
    toolErrors > 0 && plural(toolErrors, "tool error"),
  );
}

function labelled(name: string, shown: Markup | null): Markup | null {
  return shown && html`<h3>${name}</h3>${shown}`;
}

function list(items: Markup[]): Markup | null {
  return items.length === 0 ? null : html`<ul>${items}</ul>`;
}

function item(outcome: PageOutcome, shown: Markup): Markup {
  return html`<li>${signOf(outcome)} ${shown}</li>`;
}

function checkItem(check: CheckReport, iteration: number): Markup {
  const { passed, command, log, output, skipped } = check;
  const words = html`<code>${beginning(command)}</code> <span class="note">${facts.checkWords(check)}</span>`;
  if (passed) return item("passed", words);
  if (skipped !== null) return item("cut-off", words);
  const where = log === "" ? null : html`<p class="note">All of its output: <code>${log}</code></p>`;
  return item("failed", html`${words}${said(output, iteration)}${where}`);
}
