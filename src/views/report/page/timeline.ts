import { formatDuration } from "../../../duration.js";
import { formatCost } from "../../format.js";
import type { IterationReport, Report } from "../model.js";
import { type Axis, axisOf, type Span } from "./axis.js";
import { html, type Markup } from "./markup.js";
import { outcomeOf, signOf, wordOf } from "./outcome.js";

/** A bar per iteration on one axis of time. */
export function timeline(report: Report): Markup | null {
  if (report.iterations.length === 0) return null;
  const axis = axisOf(report);
  const hasCost = report.iterations.some(({ costUsd }) => costUsd !== null);
  return html`<section aria-labelledby="timeline">
    <h2 id="timeline">Timeline</h2>
    <div class="scroll tall" role="region" aria-labelledby="timeline" tabindex="0"><table class="timeline">
      <thead><tr>
        <th scope="col"><span class="hidden">Iteration</span></th>
        <th scope="col"><span class="hidden">Outcome</span></th>
        <th scope="col" class="axis"><span>0</span> <span>${formatDuration(axis.totalMs)}</span></th>
        <th scope="col" class="number">Time</th>
        ${hasCost ? html`<th scope="col" class="number">Cost</th>` : null}
      </tr></thead>
      <tbody>${report.iterations.map((iteration, index) => row(report, iteration, axis, index, hasCost))}</tbody>
    </table></div>
    ${legend(report)}
    ${waits(axis)}
  </section>`;
}

function row(
  report: Report,
  iteration: IterationReport,
  axis: Axis,
  index: number,
  hasCost: boolean,
): Markup {
  const outcome = outcomeOf(iteration, report);
  const span = axis.spans[index] ?? { startMs: 0, agentMs: 0, restMs: 0 };
  const { costUsd } = iteration;
  return html`<tr class="${outcome}">
    <th scope="row"><a href="#iteration-${iteration.iteration}">${iteration.iteration}</a></th>
    <td class="outcome">${signOf(outcome)} <span class="word">${wordOf(outcome)}</span></td>
    <td class="bar">${bar(span, axis)}</td>
    <td class="number">${formatDuration(span.agentMs + span.restMs)}</td>
    ${hasCost ? html`<td class="number">${costUsd === null ? null : formatCost(costUsd)}</td>` : null}
  </tr>`;
}

/** Thinner, and it could not be seen. */
const THINNEST = 0.5;

function bar({ startMs, agentMs, restMs }: Span, { totalMs }: Axis): Markup {
  const percent = (ms: number): number => (totalMs === 0 ? 0 : (ms / totalMs) * 100);
  const start = Math.min(percent(startMs), 100 - THINNEST);
  const agent = Math.max(percent(agentMs), THINNEST);
  const title = `agent ${formatDuration(agentMs)}, checks and the rest ${formatDuration(restMs)}`;
  return html`<svg aria-hidden="true"><title>${title}</title>
    <rect class="agent" x="${start.toFixed(2)}%" width="${agent.toFixed(2)}%" height="100%"/>
    <rect class="rest" x="${(start + agent).toFixed(2)}%" width="${percent(restMs).toFixed(2)}%" height="100%"/>
  </svg>`;
}

function legend({ iterations }: Report): Markup | null {
  if (iterations.every(({ checks }) => checks.length === 0)) return null;
  return html`<p class="note legend"><svg aria-hidden="true"><rect class="agent" width="100%" height="100%"/></svg> agent
    <svg aria-hidden="true"><rect class="rest" width="100%" height="100%"/></svg> checks</p>`;
}

function waits({ shortened }: Axis): Markup | null {
  if (shortened.length === 0) return null;
  const sum = formatDuration(shortened.reduce((all, ms) => all + ms, 0));
  if (shortened.length === 1) return html`<p class="note">A wait of ${sum} is drawn shorter than it was.</p>`;
  return html`<p class="note">${shortened.length} waits, ${sum} in all, are drawn shorter than they were.</p>`;
}
