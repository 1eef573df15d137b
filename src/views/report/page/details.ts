import { formatDuration } from "../../../duration.js";
import { type CheckReport, type IterationReport, wasNotRun } from "../../../records/iteration.js";
import { checkCommands, type Report } from "../../../records/report.js";
import { endingOf, formatCached, formatCost, formatCount, plural, skippedWords } from "../../figures.js";
import { brief } from "../../harmless.js";
import { becameIn } from "../words.js";
import { outcomeOf, type PageOutcome, signOf, timesOf, wordOf } from "./charts.js";
import { beginning, html, type Markup, type Part, said } from "./markup.js";

/** Columns of numbers have a `#` before their names. */
function tableSection(id: string, title: string, head: string[], rows: Part[][], note: Part = null) {
  if (rows.length === 0) return null;
  const number = (column: number): Markup | null =>
    head[column]?.startsWith("#") ? html` class="number"` : null;
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    <div class="scroll tall" role="group" aria-labelledby="${id}" tabindex="0"><table class="files">
      <thead><tr>${head.map((name, column) => html`<th scope="col"${number(column)}>${name.replace("#", "")}</th>`)}</tr></thead>
      <tbody>${rows.map(
        ([first = null, ...cells]) =>
          html`<tr><th scope="row">${first}</th>${cells.map((cell, index) => html`<td${number(index + 1)}>${cell}</td>`)}</tr>`,
      )}</tbody>
    </table></div>
    ${note}
  </section>`;
}

/** What each story took, and how often it was reviewed. */
export function stories({ stories: listed }: Report): Markup | null {
  const head = ["Story", "State", "#Reviews", "#Iterations", "#Cost", "#Time"];
  const rows = listed.map((story) => [
    html`<code>${beginning(story.story)}</code> ${beginning(story.title)}`,
    html`${story.state ?? ""}${story.atCap ? html` <small>at the cap</small>` : null}`,
    story.reviews,
    story.iterations,
    story.costUsd === null ? null : formatCost(story.costUsd),
    formatDuration(story.durationMs),
  ]);
  return tableSection("stories", "Stories", head, rows);
}

/** What the run changed, by path. */
export function files({ files: listed, filesChanged }: Report): Markup | null {
  const more = (filesChanged ?? 0) - listed.length;
  const lines = (sign: string, change: string, count: number | null): Markup | null =>
    count ? html`<span class="${change}">${sign}${count}</span>` : null;
  const rows = listed.map(({ path, change, added, removed }) => [
    html`<code>${path}</code>`,
    html`<span class="${change}">${change}</span>`,
    html`${lines("+", "added", added)} ${lines("−", "deleted", removed)}`,
  ]);
  const note = more > 0 ? html`<p class="note">and ${more} more that are not listed</p>` : null;
  return tableSection("files", "Files changed", ["Path", "Change", "#Lines"], rows, note);
}

/** More columns do not fit on paper; there the cells of a row are wrapped. */
const FITS_ON_PAPER = 25;

/** A row per check, a column per iteration. */
export function grid(report: Report): Markup | null {
  const { iterations } = report;
  const commands = checkCommands(report);
  if (commands.length === 0) return null;
  return html`<section aria-labelledby="checks">
    <h2 id="checks">Checks</h2>
    <div class="scroll fading" role="group" aria-labelledby="checks" tabindex="0">
    <table class="grid ${iterations.length > FITS_ON_PAPER ? "wide" : "narrow"}">
      <thead><tr><td></td>${iterations.map(({ iteration }) => html`<th scope="col">${iteration}</th>`)}</tr></thead>
      <tbody>${commands.map((command) => gridRow(command, report))}</tbody>
    </table></div>
  </section>`;
}

function gridRow(command: string, report: Report): Markup {
  const cells = report.iterations.map(({ iteration, checks }) => {
    // The same command may be two checks: one that failed is the one to see.
    const same = checks.filter((check) => check.command === command && !wasNotRun(check));
    return { iteration, result: same.find(({ passed }) => !passed) ?? same[0] };
  });
  const ran = cells.flatMap(({ result }) => result ?? []);
  const became = becameIn(report, command);
  return html`<tr>
    <th scope="row"><code title="${beginning(command)}">${beginning(command)}</code> <small>${ran.filter(({ passed }) => passed).length} of ${ran.length} passed${became === undefined ? null : `, ${became}`}</small></th>
    ${cells.map(({ result, iteration }) => gridCell(result, iteration))}
  </tr>
  `;
}

function gridCell(result: CheckReport | undefined, iteration: number): Markup {
  const cell = (look: string, sign: string, words: string, time = ""): Markup =>
    html`<td class="${look}" title="iteration ${iteration}: ${words}${time}"><span class="cell" aria-hidden="true">${sign}</span><span class="hidden">${words}</span></td>`;
  if (result === undefined) return cell("not-run", "", "not run");
  if (result.skipped !== null) return cell("passed", "=", skippedWords(result.skipped));
  const time = `, ${formatDuration(result.durationMs)}`;
  if (result.passed) return cell("passed", "✓", "passed", time);
  return cell("failed", "×", `failed, ${endingOf(result)}`, time);
}

/** What was said and found in each iteration; all but the last are folded. */
export function iterations(report: Report): Markup {
  const all = report.iterations;
  if (all.length === 0) return html`<section><p>No iteration was started.</p></section>`;
  return html`<section aria-labelledby="iterations">
    <h2 id="iterations">Iterations</h2>
    ${all.map((iteration) => folded(iteration, report, iteration === all.at(-1) ? html` open` : null))}
  </section>`;
}

function folded(iteration: IterationReport, report: Report, open: Markup | null): Markup {
  const { iteration: number, costUsd, costEstimated, error, finalMessage } = iteration;
  const outcome = outcomeOf(iteration, report);
  const why = brief(error ?? iteration.reason);
  const { agentMs, restMs } = timesOf(iteration, report);
  const cost = costUsd === null ? "" : ` · ${formatCost(costUsd, costEstimated)}`;
  const checks = iteration.checks.map((check) => checkItem(check, number));
  const violations = iteration.violations.map(({ what }) =>
    item("failed", html`<span class="words">${beginning(what)}</span>`),
  );
  const commits = iteration.scm.map(({ task, passed, message }) => {
    const words = html`<span class="words">${beginning(message)}</span>`;
    return item(
      passed ? "passed" : "failed",
      html`${task} <span class="note">${passed ? null : "failed"}</span> ${words}`,
    );
  });
  return html`<details${open}>
    <summary>${signOf(outcome)} <b>Iteration ${number}</b> <span>${wordOf(outcome)}</span>
      ${why === "" || why === wordOf(outcome) ? null : html`<span class="why">${why}</span>`}
      <span class="took">${formatDuration(agentMs + restMs)}${cost}</span></summary>
    <div class="inside" id="iteration-${number}">
      <p class="note">${spent(iteration, report).join(" · ")}</p>
      ${labelled("The agent failed", said(error ?? "", number))}
      ${labelled("Final message", said(finalMessage, number))}
      ${labelled("Checks", list(checks))}
      ${labelled("Violations", list(violations))}
      ${labelled("Commits", list(commits))}
    </div>
  </details>`;
}

function spent(iteration: IterationReport, report: Report): string[] {
  const { agentMs, restMs } = timesOf(iteration, report);
  const { mode, agent, inputTokens, outputTokens, cacheReadTokens, tools, toolErrors } = iteration;
  const tokens = `${formatCount(inputTokens)} tokens in${formatCached(cacheReadTokens)}, ${formatCount(outputTokens)} out`;
  return [
    ...(mode === null ? [] : [beginning(mode)]),
    ...(agent === null || agent === report.agent ? [] : [beginning(agent)]),
    `agent ${formatDuration(agentMs)}`,
    ...(iteration.checks.length === 0 ? [] : [`checks ${formatDuration(restMs)}`]),
    ...(inputTokens + outputTokens === 0 ? [] : [tokens]),
    ...(tools === 0 ? [] : [plural(tools, "tool call")]),
    ...(toolErrors === 0 ? [] : [plural(toolErrors, "tool error")]),
  ];
}

function labelled(name: string, shown: Markup | null): Markup | null {
  return shown === null ? null : html`<h3>${name}</h3>${shown}`;
}

function list(items: Markup[]): Markup | null {
  return items.length === 0 ? null : html`<ul>${items}</ul>`;
}

function item(outcome: PageOutcome, shown: Markup): Markup {
  return html`<li>${signOf(outcome)} ${shown}</li>`;
}

function checkItem(check: CheckReport, iteration: number): Markup {
  const { passed, command, durationMs, log, output, skipped } = check;
  const time = formatDuration(durationMs);
  const noted = (words: string): Markup =>
    html`<code>${beginning(command)}</code> <span class="note">${words}</span>`;
  if (skipped !== null) return item(passed ? "passed" : "cut-off", noted(skippedWords(skipped)));
  if (passed) return item("passed", noted(`passed, ${time}`));
  return item(
    "failed",
    html`${noted(`failed, ${endingOf(check)}, ${time}`)}
    ${said(output, iteration)}
    ${log === "" ? null : html`<p class="note">All of its output: <code>${log}</code></p>`}`,
  );
}
