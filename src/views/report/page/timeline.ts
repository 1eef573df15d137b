import { formatDuration } from "../../../duration.js";
import type { Report } from "../../../records/report.js";
import { axisOf, type Span } from "./axis.js";
import { legend, textures } from "./legend.js";
import { html, type Markup } from "./markup.js";
import { outcomeOf, wordOf } from "./outcome.js";
import { clockTime } from "./when.js";

/** More bars than this get room to the side on a phone. */
const FITS_ON_A_PHONE = 40;

/** The whole run on one axis of time, a bar per iteration. */
export function timeline(report: Report): Markup | null {
  const { spans, totalMs } = axisOf(report);
  if (spans.length === 0) return null;
  const label = `Bars of the iterations, ${formatDuration(totalMs)} in all`;
  return html`<section aria-labelledby="timeline">
    <h2 id="timeline">Timeline</h2>
    <div class="scroll" role="group" aria-labelledby="timeline" tabindex="0">
      <div class="timeline ${spans.length > FITS_ON_A_PHONE ? "many" : "few"}">
        <svg role="img" aria-label="${label}">
          ${textures()}
          ${spans.map((span) => [wait(span, totalMs), bar(span, totalMs, report)])}
          ${numbers(spans, totalMs)}
        </svg>
        ${clock(report)}
      </div>
    </div>
    ${legend(report, spans)}
  </section>`;
}

/** In percent. Thinner, and it could not be seen. */
const THINNEST = 0.3;
/** Between two bars that follow each other at once. */
const SEAM = 0.15;
const BAR_HEIGHT = "70%";

function bar(span: Span, totalMs: number, report: Report): Markup {
  const { iteration } = span.iteration;
  const outcome = outcomeOf(span.iteration, report);
  const x = percent(span.startMs, totalMs);
  const width = Math.max(percent(span.agentMs + span.restMs, totalMs) - SEAM, THINNEST);
  const agent = Math.min(Math.max(percent(span.agentMs, totalMs), THINNEST), width);
  return html`<a class="${outcome}" href="#iteration-${iteration}" tabindex="-1">
    <title>iteration ${iteration}: ${wordOf(outcome)}, ${times(span)}</title>
    <rect class="agent" x="${fixed(x)}%" width="${fixed(agent)}%" height="${BAR_HEIGHT}"/>
    <rect class="rest" x="${fixed(x + agent)}%" width="${fixed(width - agent)}%" height="${BAR_HEIGHT}"/>
    <rect fill="url(#${outcome})" x="${fixed(x)}%" width="${fixed(width)}%" height="${BAR_HEIGHT}"/></a>`;
}

function times({ agentMs, restMs }: Span): string {
  const all = formatDuration(agentMs + restMs);
  return restMs === 0 ? all : `${all}, of it ${formatDuration(agentMs)} the agent`;
}

function wait({ startMs, drawnMs, waitMs }: Span, totalMs: number): Markup | null {
  if (drawnMs === waitMs) return null;
  const [from, to] = [percent(startMs - drawnMs, totalMs), percent(startMs, totalMs)];
  return html`<line x1="${fixed(from)}%" x2="${fixed(to)}%" y1="35%" y2="35%"/>`;
}

/** Closer, and one number would cover the other. */
const ROOM_FOR_A_NUMBER = 6;
/** Further right, and the edge would cut it. */
const LAST_NUMBER = 98;

function numbers(spans: Span[], totalMs: number): Markup[] {
  let last = Number.NEGATIVE_INFINITY;
  return spans.flatMap(({ iteration, startMs, agentMs, restMs }) => {
    const middle = Math.min(percent(startMs + (agentMs + restMs) / 2, totalMs), LAST_NUMBER);
    if (middle - last < ROOM_FOR_A_NUMBER) return [];
    last = middle;
    return [html`<text x="${fixed(middle)}%" y="96%">${iteration.iteration}</text>`];
  });
}

function clock({ iterations, lastAt }: Report): Markup | null {
  const [from, to] = [clockTime(iterations[0]?.startedAt ?? ""), clockTime(lastAt)];
  if (from === null || to === null || from === to) return null;
  return html`<p class="clock note"><span>${from}</span> <span>${to} UTC</span></p>`;
}

function percent(ms: number, totalMs: number): number {
  return totalMs === 0 ? 0 : (ms / totalMs) * 100;
}

function fixed(value: number): string {
  return value.toFixed(2);
}
