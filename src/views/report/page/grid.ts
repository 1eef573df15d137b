import { formatDuration } from "../../../duration.js";
import { type CheckReport, type IterationReport, wasNotRun } from "../../../records/iteration.js";
import { checkCommands, type Report } from "../../../records/report.js";
import { skippedWords } from "../../checks.js";
import { endingOf } from "../../figures.js";
import { becameIn } from "../words.js";
import { html, type Markup } from "./markup.js";
import { beginning } from "./said.js";

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
      <tbody>${commands.map((command) => row(command, iterations, becameIn(report, command)))}</tbody>
    </table></div>
  </section>`;
}

function row(command: string, iterations: IterationReport[], became: string | undefined): Markup {
  const results = iterations.map(({ checks }) => resultOf(command, checks));
  const ran = results.filter((result) => result !== undefined);
  const passed = ran.filter((result) => result.passed).length;
  return html`<tr>
    <th scope="row"><code title="${beginning(command)}">${beginning(command)}</code> <small>${passed} of ${ran.length} passed${became === undefined ? null : `, ${became}`}</small></th>
    ${results.map((result, index) => cell(result, iterations[index]?.iteration ?? 0))}
  </tr>
  `;
}

/** The same command may be two checks: one that failed is the one to see. */
function resultOf(command: string, checks: CheckReport[]): CheckReport | undefined {
  const same = checks.filter((check) => check.command === command && !wasNotRun(check));
  return same.find(({ passed }) => !passed) ?? same[0];
}

function cell(result: CheckReport | undefined, iteration: number): Markup {
  if (result === undefined) {
    return html`<td class="not-run" title="iteration ${iteration}: not run"><span class="cell" aria-hidden="true"></span><span class="hidden">not run</span></td>`;
  }
  const { passed, durationMs } = result;
  if (result.skipped !== null) {
    const why = skippedWords(result.skipped);
    return html`<td class="passed" title="iteration ${iteration}: ${why}"><span class="cell" aria-hidden="true">=</span><span class="hidden">${why}</span></td>`;
  }
  const words = passed ? "passed" : `failed, ${endingOf(result)}`;
  return html`<td class="${passed ? "passed" : "failed"}" title="iteration ${iteration}: ${words}, ${formatDuration(durationMs)}"><span class="cell" aria-hidden="true">${passed ? "✓" : "×"}</span><span class="hidden">${words}</span></td>`;
}
