import { formatDuration } from "../../../duration.js";
import type { CheckReport, IterationReport, ScmReport, ViolationReport } from "../../../records/iteration.js";
import type { Report } from "../../../records/report.js";
import { skippedWords } from "../../checks.js";
import { endingOf, formatCost, formatCount } from "../../figures.js";
import { brief } from "../../harmless.js";
import { partsOf } from "./axis.js";
import { html, type Markup } from "./markup.js";
import { outcomeOf, signOf, wordOf } from "./outcome.js";
import { beginning, said } from "./said.js";

/** What was said and found in each iteration; all but the last are folded. */
export function iterations(report: Report): Markup {
  const all = report.iterations;
  if (all.length === 0) return html`<section><p>No iteration was started.</p></section>`;
  const last = all.length - 1;
  return html`<section aria-labelledby="iterations">
    <h2 id="iterations">Iterations</h2>
    ${all.map((iteration, index) => folded(iteration, report, index === last ? html` open` : null))}
  </section>`;
}

function folded(iteration: IterationReport, report: Report, open: Markup | null): Markup {
  const outcome = outcomeOf(iteration, report);
  const why = brief(iteration.error ?? iteration.reason);
  return html`<details${open}>
    <summary>${signOf(outcome)} <b>Iteration ${iteration.iteration}</b> <span>${wordOf(outcome)}</span>
      ${why === "" || why === wordOf(outcome) ? null : html`<span class="why">${why}</span>`}
      <span class="took">${took(iteration, report)}</span></summary>
    <div class="inside" id="iteration-${iteration.iteration}">
      <p class="note">${spent(iteration, report).join(" · ")}</p>
      ${labelled("The agent failed", iteration.error, iteration)}
      ${labelled("Final message", iteration.finalMessage, iteration)}
      ${list(
        "Checks",
        iteration.checks.map((check) => checkItem(check, iteration)),
      )}
      ${list("Violations", iteration.violations.map(violationItem))}
      ${list("Commits", iteration.scm.map(scmItem))}
    </div>
  </details>`;
}

function took(iteration: IterationReport, report: Report): string {
  const { agentMs, restMs } = partsOf(iteration, report);
  const { costUsd, costEstimated } = iteration;
  return [
    formatDuration(agentMs + restMs),
    ...(costUsd === null ? [] : [formatCost(costUsd, costEstimated)]),
  ].join(" · ");
}

function spent(iteration: IterationReport, report: Report): string[] {
  const { agentMs, restMs } = partsOf(iteration, report);
  const { mode, agent, inputTokens, outputTokens, cacheReadTokens = 0, tools, toolErrors } = iteration;
  const cached = cacheReadTokens > 0 ? ` (${formatCount(cacheReadTokens)} cached)` : "";
  const hasTokens = inputTokens + outputTokens > 0;
  return [
    ...(mode === null ? [] : [beginning(mode)]),
    ...(agent === null || agent === report.agent ? [] : [beginning(agent)]),
    `agent ${formatDuration(agentMs)}`,
    ...(iteration.checks.length === 0 ? [] : [`checks ${formatDuration(restMs)}`]),
    ...(hasTokens
      ? [`${formatCount(inputTokens)} tokens in${cached}, ${formatCount(outputTokens)} out`]
      : []),
    ...(tools === 0 ? [] : [plural(tools, "tool call")]),
    ...(toolErrors === 0 ? [] : [plural(toolErrors, "tool error")]),
  ];
}

function labelled(name: string, text: string | null, { iteration }: IterationReport): Markup | null {
  const shown = said(text ?? "", iteration);
  return shown === null ? null : html`<h3>${name}</h3>${shown}`;
}

function list(name: string, items: Markup[]): Markup | null {
  return items.length === 0 ? null : html`<h3>${name}</h3><ul>${items}</ul>`;
}

function checkItem(check: CheckReport, { iteration }: IterationReport): Markup {
  const { passed, command, durationMs, log, output, skipped } = check;
  if (skipped !== null)
    return html`<li>${signOf(passed ? "passed" : "cut-off")} <code>${beginning(command)}</code> <span class="note">${skippedWords(skipped)}</span></li>`;
  const time = formatDuration(durationMs);
  if (passed)
    return html`<li>${signOf("passed")} <code>${beginning(command)}</code> <span class="note">passed, ${time}</span></li>`;
  return html`<li>${signOf("failed")} <code>${beginning(command)}</code>
    <span class="note">failed, ${endingOf(check)}, ${time}</span>
    ${said(output, iteration)}
    ${log === "" ? null : html`<p class="note">All of its output: <code>${log}</code></p>`}</li>`;
}

function violationItem({ what }: ViolationReport): Markup {
  return html`<li>${signOf("failed")} <span class="words">${beginning(what)}</span></li>`;
}

function scmItem({ task, passed, message }: ScmReport): Markup {
  return html`<li>${signOf(passed ? "passed" : "failed")} ${task}
    <span class="note">${passed ? null : "failed"}</span> <span class="words">${beginning(message)}</span></li>`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
