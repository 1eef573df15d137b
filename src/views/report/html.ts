import { createHash } from "node:crypto";
import { formatDuration } from "../../duration.js";
import type { IterationReport } from "../../records/iteration.js";
import type { Report } from "../../records/report.js";
import { costCell, joined, plural } from "../figures.js";
import type { SummaryRow } from "../summary.js";
import * as facts from "./facts.js";
import { beginning, type Content, element, html, type Markup, said, section, styleSheet } from "./markup.js";
import { detailOf, lookOfRun, pageChecks, pageIterations } from "./page.js";
import * as parts from "./parts.js";
import { LOOKS, numberOf, type PageIteration } from "./shapes.js";

const idOf = (one: PageIteration): string => ["iteration", one.lane ?? [], one.iteration].flat().join("-");
const placeOf = (one: PageIteration): string => `#${idOf(one)}`;

/** A run as one page that needs nothing else: no script, no font, no picture, no request. */
export function htmlReport(report: Report, receipt?: ShownReceipt): string {
  const styles = styleSheet();
  // Nothing is allowed but the style sheet, known by its hash.
  const hash = createHash("sha256").update(styles.toString()).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const changed = (text: string, column: number): Content =>
    column === 0 ? html`<span class="${text}">${text}</span>` : text;
  const all = pageIterations(report);
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
    ${charts(all)}
    ${table(facts.storyTable(report))}
    ${grid(report, all)}
    ${receipt === undefined ? null : receiptPart(receipt, report.run)}
    ${table(facts.fileTable(report, Number.POSITIVE_INFINITY), changed)}
    ${iterations(report, all)}
  </main>
  <footer><p>Made by ralph from the records of run <code>${report.run}</code>.</p></footer>
</body>
</html>
`;
  return page.toString();
}

function header(report: Report): Markup {
  const rows = facts.factsOf(report).slice(1);
  return html`<header>
    <p class="run">ralph run <code>${report.run}</code></p>
    <h1>${parts.sign(element, lookOfRun(report))} <span>${facts.titleOf(report)}</span></h1>
    <dl class="facts">${rows.filter((row) => !facts.isTotal(row)).map(fact)}</dl>
    ${parts.totals(element, facts.known(rows).filter(facts.isTotal))}
  </header>`;
}

function fact([name, value]: SummaryRow): Content {
  if (value == null) return null;
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const words = beginning(value);
  return html`<div><dt>${title}</dt><dd>${facts.COPIED.includes(name) ? html`<code>${words}</code>` : words}</dd></div>`;
}

function charts(all: PageIteration[]): Content {
  if (all.length === 0) return null;
  const columns = parts.columns(element, all);
  return [
    section("Timeline", parts.timeline(element, all, placeOf), {
      scrolls: "whole",
      below: parts.legend(element, all),
    }),
    columns && section("Each iteration", columns),
  ];
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

function grid(report: Report, all: PageIteration[]): Markup | null {
  const rows = pageChecks(report);
  if (rows.length === 0) return null;
  return section("Checks", parts.grid(element, rows, all), { scrolls: "fading" });
}

/** The messages and checks of each iteration; all but the last are folded. */
function iterations(report: Report, all: PageIteration[]): Markup {
  if (all.length === 0) return html`<section><p>No iteration was started.</p></section>`;
  const last = all.length - 1;
  return section(
    "Iterations",
    report.iterations.map((iteration, index) =>
      folded(iteration, all[index] as PageIteration, index === last ? html` open` : null),
    ),
  );
}

function folded(iteration: IterationReport, one: PageIteration, open: Markup | null): Markup {
  const { iteration: number, look, why, mode, agentMs, restMs, costUsd, costEstimated, spent } = one;
  const took = joined(formatDuration(agentMs + restMs), costUsd !== null && costCell(costUsd, costEstimated));
  return html`<details${open}>
    <summary>${parts.sign(element, look)} <b>Iteration ${numberOf(one)}</b> <span>${LOOKS[look].word}</span>
      ${why === "" || why === LOOKS[look].word ? null : html`<span class="why">${why}</span>`}
      <span class="took">${took}</span></summary>
    <div class="inside" id="${idOf(one)}">
      <p class="note">${joined(mode && beginning(mode), spent)}</p>
      ${parts.inside(element, detailOf(iteration), (text) => said(text, number))}
    </div>
  </details>`;
}

/** What a page shows of a receipt. */
export interface ShownReceipt {
  commit: string | undefined;
  tree: string;
  confirmed: number;
  signer: string | null;
  checks: {
    name: string;
    exitCode: number | null;
    durationMs: number;
    witness: string | null;
    flaky: string[];
    log: { sha256: string } | null;
  }[];
  /** All of it, as it is in its file. */
  text: string;
}

const DIGEST_CHARS = 12;

function receiptPart(receipt: ShownReceipt, run: string): Markup {
  const { commit, tree, confirmed, signer, checks, text } = receipt;
  const rows = checks.map(({ name, exitCode, durationMs, witness, flaky, log }) => {
    const what = [witness, ...(flaky.length === 0 ? [] : [`flaky: ${flaky.join(", then ")}`])];
    return html`<tr><td class="number">${exitCode ?? "-"}</td><td class="number">${formatDuration(durationMs)}</td>
      <td>${what.filter(Boolean).join("; ") || "-"}</td>
      <td><code>${log === null ? "-" : log.sha256.slice(0, DIGEST_CHARS)}</code></td>
      <th scope="row"><code>${beginning(name)}</code></th></tr>`;
  });
  const again = confirmed === 0 ? null : html`, confirmed ${plural(confirmed, "time")}`;
  const signed = signer === null ? "not signed" : html`signed with <code>${signer}</code>`;
  const about = html`${commit === undefined ? "Tree" : "Commit"} <code>${commit ?? tree}</code>${again}, ${signed}.
    <code>ralph verify ${run}</code> runs the checks again.`;
  const whole = html`<details><summary>receipt.json</summary><div class="inside"><pre>${text}</pre></div></details>`;
  return section(
    "Receipt",
    html`<table class="files">
      <thead><tr><th scope="col" class="number">exit</th><th scope="col" class="number">time</th>
        <th scope="col">witness</th><th scope="col">sha256 of log</th><th scope="col">check</th></tr></thead>
      <tbody>${rows}</tbody>
    </table>`,
    { scrolls: "tall", below: html`<p class="note">${about}</p>${whole}` },
  );
}
