import { formatDuration } from "../../../duration.js";
import type { IterationReport } from "../../../records/iteration.js";
import type { Report } from "../../../records/report.js";
import { formatCost, formatCount } from "../../figures.js";
import { html, type Markup } from "./markup.js";

/** How an iteration or a run ended: told apart by sign, word and texture; colour only helps. */
const OUTCOMES = {
  passed: { sign: "✓", word: "passed", texture: { size: 8, width: 0, height: 0, turn: 0 } },
  failed: { sign: "×", word: "failed", texture: { size: 5, width: 1.5, height: 5, turn: 45 } },
  "agent-failed": { sign: "!", word: "agent failed", texture: { size: 5, width: 5, height: 2, turn: 0 } },
  "cut-off": { sign: "–", word: "cut off", texture: { size: 5, width: 3, height: 3, turn: 0 } },
  "at-work": { sign: "…", word: "at work", texture: { size: 8, width: 5, height: 8, turn: 0 } },
};

export type PageOutcome = keyof typeof OUTCOMES;

const NAMES = Object.keys(OUTCOMES) as PageOutcome[];

export function signOf(outcome: PageOutcome): Markup {
  return html`<span class="sign ${outcome}" aria-hidden="true">${OUTCOMES[outcome].sign}</span>`;
}

export function wordOf(outcome: PageOutcome): string {
  return OUTCOMES[outcome].word;
}

export function outcomeOf(iteration: IterationReport, { status }: Report): PageOutcome {
  if (!iteration.finished) return status === "running" || status === "waiting" ? "at-work" : "cut-off";
  if (iteration.error !== null) return "agent-failed";
  return iteration.passed ? "passed" : "failed";
}

export function outcomeOfRun({ reason, exitCode, status }: Report): PageOutcome {
  if (exitCode === 0) return "passed";
  if (reason === null) return status === "crashed" || status === "finished" ? "cut-off" : "at-work";
  if (reason === "interrupted") return "cut-off";
  return reason === "agent_failed" ? "agent-failed" : "failed";
}

/** Where an iteration stands on the axis of time; milliseconds, from the beginning of the axis. */
interface Span {
  iteration: IterationReport;
  /** How long nothing was at work before it, and how much of that is drawn. */
  waitMs: number;
  drawnMs: number;
  startMs: number;
  agentMs: number;
  /** Checks, commits, and what else is not the agent. */
  restMs: number;
}

/** A night's pause drawn in full would leave no room for the work. */
const LONGEST_WAIT = 0.1;

export function axisOf(report: Report): { spans: Span[]; totalMs: number } {
  const all = report.iterations.map((iteration) => ({ iteration, ...timesOf(iteration, report) }));
  const longestWait = sum(all.map(lengthOf)) * LONGEST_WAIT;
  const spans: Span[] = [];
  let totalMs = 0;
  for (const part of all) {
    const before = spans.at(-1);
    const sinceMs = before ? between(before.iteration.startedAt, part.iteration.startedAt) : 0;
    const waitMs = before ? Math.max(0, sinceMs - lengthOf(before)) : 0;
    const drawnMs = Math.min(waitMs, longestWait);
    const startMs = totalMs + drawnMs;
    spans.push({ ...part, waitMs, drawnMs, startMs });
    totalMs = startMs + lengthOf(part);
  }
  return { spans, totalMs };
}

/** One that has not finished: what its parts took; without any, the time until the last record. */
export function timesOf(iteration: IterationReport, { iterations, lastAt }: Report) {
  const { finished, durationMs, agentMs, checks, startedAt } = iteration;
  const known = finished ? durationMs : agentMs + sum(checks.map((check) => check.durationMs));
  const isLast = iteration === iterations.at(-1);
  const length = !finished && known === 0 && isLast ? between(startedAt, lastAt) : known;
  const ofAgent = !finished && agentMs === 0 ? length : Math.min(agentMs, length);
  return { agentMs: ofAgent, restMs: length - ofAgent };
}

function lengthOf({ agentMs, restMs }: Pick<Span, "agentMs" | "restMs">): number {
  return agentMs + restMs;
}

function between(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from)) || 0;
}

/** More bars than this get room to the side on a phone. */
const FITS_ON_A_PHONE = 40;
/** Closer (in percent), and one number would cover the other; further right, and the edge would cut it. */
const ROOM_FOR_A_NUMBER = 6;
const LAST_NUMBER = 98;

/** The whole run on one axis of time, a bar per iteration. */
export function timeline(report: Report): Markup | null {
  const { spans, totalMs } = axisOf(report);
  if (spans.length === 0) return null;
  const percent = (ms: number): number => (totalMs === 0 ? 0 : (ms / totalMs) * 100);
  let last = Number.NEGATIVE_INFINITY;
  const numbers = spans.flatMap(({ iteration, startMs, agentMs, restMs }) => {
    const middle = Math.min(percent(startMs + (agentMs + restMs) / 2), LAST_NUMBER);
    if (middle - last < ROOM_FOR_A_NUMBER) return [];
    last = middle;
    return [html`<text x="${fixed(middle)}%" y="96%">${iteration.iteration}</text>`];
  });
  return html`<section aria-labelledby="timeline">
    <h2 id="timeline">Timeline</h2>
    <div class="scroll" role="group" aria-labelledby="timeline" tabindex="0">
      <div class="timeline ${spans.length > FITS_ON_A_PHONE ? "many" : "few"}">
        <svg role="img" aria-label="Bars of the iterations, ${formatDuration(totalMs)} in all">
          <defs>${NAMES.map(texture)}</defs>
          ${spans.map((span) => bar(span, percent, report))}
          ${numbers}
        </svg>
        ${clock(report)}
      </div>
    </div>
    ${legend(report, spans)}
  </section>`;
}

/** Laid over the bars, so that they differ without colour, too. */
function texture(outcome: PageOutcome): Markup {
  const { size, width, height, turn } = OUTCOMES[outcome].texture;
  return html`<pattern id="${outcome}" width="${size}" height="${size}" patternUnits="userSpaceOnUse"
    patternTransform="rotate(${turn})"><rect class="ink" width="${width}" height="${height}"/></pattern>`;
}

/** In percent. Thinner, and it could not be seen. */
const THINNEST = 0.3;
/** Between two bars that follow each other at once. */
const SEAM = 0.15;

/** With a line for the wait before it, where that is drawn shorter than it was. */
function bar(span: Span, percent: (ms: number) => number, report: Report): Markup {
  const { startMs, agentMs, restMs, waitMs, drawnMs } = span;
  const { iteration } = span.iteration;
  const outcome = outcomeOf(span.iteration, report);
  const x = percent(startMs);
  const width = Math.max(percent(agentMs + restMs) - SEAM, THINNEST);
  const agent = Math.min(Math.max(percent(agentMs), THINNEST), width);
  const times = restMs === 0 ? "" : `, of it ${formatDuration(agentMs)} the agent`;
  const rect = (look: Markup, from: number, wide: number): Markup =>
    html`<rect ${look} x="${fixed(from)}%" width="${fixed(wide)}%" height="70%"/>`;
  const wait = html`<line x1="${fixed(percent(startMs - drawnMs))}%" x2="${fixed(x)}%" y1="35%" y2="35%"/>`;
  return html`${drawnMs === waitMs ? null : wait}<a class="${outcome}" href="#iteration-${iteration}" tabindex="-1">
    <title>iteration ${iteration}: ${wordOf(outcome)}, ${formatDuration(agentMs + restMs)}${times}</title>
    ${rect(html`class="agent"`, x, agent)}
    ${rect(html`class="rest"`, x + agent, width - agent)}
    ${rect(html`fill="url(#${outcome})"`, x, width)}</a>`;
}

function clock({ iterations, lastAt }: Report): Markup | null {
  const time = (at = ""): string =>
    Number.isNaN(Date.parse(at)) ? "" : new Date(at).toISOString().slice(11, 16);
  const [from, to] = [time(iterations[0]?.startedAt), time(lastAt)];
  if (from === "" || to === "" || from === to) return null;
  return html`<p class="clock note"><span>${from}</span> <span>${to} UTC</span></p>`;
}

/** What the bars mean, and how many there are of each. */
function legend(report: Report, spans: Span[]): Markup {
  const outcomes = report.iterations.map((iteration) => outcomeOf(iteration, report));
  const entries = NAMES.filter((outcome) => outcomes.includes(outcome)).map((outcome) => {
    const count = outcomes.filter((one) => one === outcome).length;
    return html`<li class="${outcome}"><svg aria-hidden="true"><rect class="agent" width="100%" height="100%"/>
    <rect fill="url(#${outcome})" width="100%" height="100%"/></svg> ${count} ${wordOf(outcome)}</li>`;
  });
  const hasChecks = report.iterations.some(({ checks }) => checks.length > 0);
  const cutMs = sum(spans.map(({ waitMs, drawnMs }) => (drawnMs < waitMs ? waitMs : 0)));
  const checks = html`<li><svg aria-hidden="true"><rect class="rest" width="100%" height="100%"/></svg> paler: checks</li>`;
  const waits = html`<li><svg aria-hidden="true"><line x2="100%" y1="50%" y2="50%"/></svg>
    ${formatDuration(cutMs)} of waiting, drawn shorter</li>`;
  return html`<ul class="legend note">${entries}${hasChecks ? checks : null}${cutMs === 0 ? null : waits}</ul>`;
}

/** What is drawn of an iteration, from the bottom up. */
type Parts = (iteration: IterationReport) => number[];

/** Time, cost and tokens of each iteration side by side; one alone has nothing to be compared with. */
export function columns(report: Report): Markup | null {
  const { iterations } = report;
  if (iterations.length < 2) return null;
  const tokens: Parts = ({ inputTokens, outputTokens }) => [inputTokens + outputTokens];
  return html`<section aria-labelledby="columns">
    <h2 id="columns">Each iteration</h2>
    <div class="charts">
      ${figure("Time", iterations, (iteration) => Object.values(timesOf(iteration, report)), formatDuration)}
      ${figure("Cost", iterations, ({ costUsd }) => [costUsd ?? 0], formatCost)}
      ${figure("Tokens", iterations, tokens, formatCount)}
    </div>
  </section>`;
}

/** Fewer columns than this do not fill the width: three fat blocks would say less. */
const FEWEST_SLOTS = 10;
/** What is left below the columns for the numbers of the iterations. */
const FLOOR = 80;
/** Further right, and a number of three digits would be cut off on paper. */
const RIGHTMOST = 97;

function figure(
  name: string,
  iterations: IterationReport[],
  parts: Parts,
  format: (value: number) => string,
): Markup | null {
  const heights = iterations.map((iteration) => sum(parts(iteration)));
  const most = Math.max(...heights);
  if (most === 0) return null;
  const slot = 100 / Math.max(iterations.length, FEWEST_SLOTS);
  const peak = iterations[heights.indexOf(most)]?.iteration ?? 0;
  const column = (iteration: IterationReport, index: number): Markup => {
    let top = FLOOR;
    const stack = parts(iteration).map((value, part) => {
      const height = (value / most) * FLOOR;
      top -= height;
      return html`<rect class="${part === 0 ? "agent" : "rest"}" x="${fixed((index + 0.1) * slot)}%"
      y="${fixed(top)}%" width="${fixed(slot * 0.8)}%" height="${fixed(height)}%"/>`;
    });
    const title = `iteration ${iteration.iteration}: ${format(sum(parts(iteration)))}`;
    return html`<g><title>${title}</title>${stack}</g>`;
  };
  const label = (index: number): Markup =>
    html`<text x="${fixed(Math.min(slot * (index + 0.5), RIGHTMOST))}%" y="98%">${iterations[index]?.iteration ?? 0}</text>`;
  return html`<figure>
    <figcaption>${name} <span>at most ${format(most)}, in iteration ${peak}</span></figcaption>
    <svg role="img" aria-label="${name} of each iteration, at most ${format(most)} in iteration ${peak}">
      ${iterations.map(column)}
      ${[0, iterations.length - 1].map(label)}
    </svg>
  </figure>`;
}

function fixed(value: number): string {
  return value.toFixed(2);
}

function sum(values: number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
