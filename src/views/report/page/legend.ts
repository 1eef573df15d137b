import { formatDuration } from "../../../duration.js";
import type { Report } from "../../../records/report.js";
import type { Span } from "./axis.js";
import { html, type Markup } from "./markup.js";
import { OUTCOMES, type Outcome, outcomeOf, wordOf } from "./outcome.js";

/** Laid over the bars by the name of the outcome, so that they differ without colour, too. */
export function textures(): Markup {
  return html`<defs>
    <pattern id="failed" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect class="ink" width="1.5" height="5"/></pattern>
    <pattern id="agent-failed" width="5" height="5" patternUnits="userSpaceOnUse">
      <rect class="ink" width="5" height="2"/></pattern>
    <pattern id="cut-off" width="5" height="5" patternUnits="userSpaceOnUse">
      <rect class="ink" width="3" height="3"/></pattern>
    <pattern id="at-work" width="8" height="8" patternUnits="userSpaceOnUse">
      <rect class="ink" width="5" height="8"/></pattern>
    <pattern id="passed" width="8" height="8" patternUnits="userSpaceOnUse"></pattern>
  </defs>`;
}

/** What the bars mean, and how many there are of each. */
export function legend(report: Report, spans: Span[]): Markup {
  const outcomes = report.iterations.map((iteration) => outcomeOf(iteration, report));
  const hasChecks = report.iterations.some(({ checks }) => checks.length > 0);
  return html`<ul class="legend note">
    ${OUTCOMES.map((outcome) => entry(outcome, outcomes.filter((one) => one === outcome).length))}
    ${hasChecks ? html`<li><svg aria-hidden="true"><rect class="rest" width="100%" height="100%"/></svg> paler: checks</li>` : null}
    ${shortened(spans)}
  </ul>`;
}

function entry(outcome: Outcome, count: number): Markup | null {
  if (count === 0) return null;
  return html`<li class="${outcome}"><svg aria-hidden="true"><rect class="agent" width="100%" height="100%"/>
    <rect fill="url(#${outcome})" width="100%" height="100%"/></svg> ${count} ${wordOf(outcome)}</li>`;
}

function shortened(spans: Span[]): Markup | null {
  const waits = spans.filter(({ waitMs, drawnMs }) => drawnMs < waitMs);
  if (waits.length === 0) return null;
  const sum = waits.reduce((all, { waitMs }) => all + waitMs, 0);
  return html`<li><svg aria-hidden="true"><line x2="100%" y1="50%" y2="50%"/></svg>
    ${formatDuration(sum)} of waiting, drawn shorter</li>`;
}
