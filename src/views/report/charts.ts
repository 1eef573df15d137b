import { formatDuration } from "../../duration.js";
import type { IterationReport } from "../../records/iteration.js";
import type { Report } from "../../records/report.js";
import { formatCost, formatCount } from "../figures.js";
import { html, type Markup, section } from "./markup.js";

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

export function outcomeOfRun({ reason, success, exitCode, status }: Report): PageOutcome {
  if (success) return "passed";
  // Nothing was verified.
  if (exitCode === 0) return "cut-off";
  if (reason === null) return status === "crashed" || status === "finished" ? "cut-off" : "at-work";
  if (reason === "interrupted") return "cut-off";
  return reason === "agent_failed" ? "agent-failed" : "failed";
}

/** A night's pause drawn in full would leave no room for the work. */
const LONGEST_WAIT = 0.1;

type Span = ReturnType<typeof axisOf>["spans"][number];

/** Where each iteration stands on the axis of time; milliseconds, from the beginning of the axis. */
export function axisOf({ iterations }: Report) {
  const longestWait =
    sum(iterations.flatMap((iteration) => Object.values(timesOf(iteration)))) * LONGEST_WAIT;
  let totalMs = 0;
  let lastEnd = Number.NaN;
  const spans = iterations.map((iteration) => {
    const { agentMs, restMs } = timesOf(iteration);
    const startedAt = Date.parse(iteration.startedAt);
    /** How long nothing was at work before it, and how much of that is drawn. */
    const waitMs = Math.max(0, startedAt - lastEnd) || 0;
    const drawnMs = Math.min(waitMs, longestWait);
    const startMs = totalMs + drawnMs;
    lastEnd = startedAt + agentMs + restMs;
    totalMs = startMs + agentMs + restMs;
    return { iteration, waitMs, drawnMs, startMs, agentMs, restMs };
  });
  return { spans, totalMs };
}

/** The agent's part of an iteration; and checks, commits and what else is not the agent. */
export function timesOf({ finished, durationMs, agentMs }: IterationReport) {
  const length = Math.max(durationMs, agentMs);
  const own = finished || agentMs > 0 ? agentMs : length;
  return { agentMs: own, restMs: length - own };
}

/** More bars than this get room to the side on a phone. */
const FITS_ON_A_PHONE = 40;
/** Closer (in percent), and one number would cover the other; further right, and the edge would cut it. */
const ROOM_FOR_A_NUMBER = 6;
const LAST_NUMBER = 98;

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
  return section(
    "Timeline",
    html`<div class="timeline ${spans.length > FITS_ON_A_PHONE ? "many" : "few"}">
      <svg role="img" aria-label="Bars of the iterations, ${formatDuration(totalMs)} in all">
        <defs>${NAMES.map(texture)}</defs>
        ${spans.map((span) => bar(span, percent, report))}
        ${numbers}
      </svg>
    </div>`,
    { scrolls: "whole", below: legend(report, spans) },
  );
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

function legend(report: Report, spans: Span[]): Markup {
  const entry = (look: string, shown: Markup, words: string): Markup =>
    html`<li class="${look}"><svg aria-hidden="true">${shown}</svg> ${words}</li>`;
  const whole = (look: Markup): Markup => html`<rect ${look} width="100%" height="100%"/>`;
  const outcomes = report.iterations.map((iteration) => outcomeOf(iteration, report));
  const entries = NAMES.filter((outcome) => outcomes.includes(outcome)).map((outcome) => {
    const count = outcomes.filter((one) => one === outcome).length;
    const shown = html`${whole(html`class="agent"`)}${whole(html`fill="url(#${outcome})"`)}`;
    return entry(outcome, shown, `${count} ${wordOf(outcome)}`);
  });
  if (report.iterations.some(({ checks }) => checks.length > 0))
    entries.push(entry("", whole(html`class="rest"`), "paler: checks"));
  const cutMs = sum(spans.map(({ waitMs, drawnMs }) => (drawnMs < waitMs ? waitMs : 0)));
  const line = html`<line x2="100%" y1="50%" y2="50%"/>`;
  if (cutMs > 0) entries.push(entry("", line, `${formatDuration(cutMs)} of waiting, drawn shorter`));
  return html`<ul class="legend note">${entries}</ul>`;
}

/** Time, cost and tokens of each iteration side by side; one alone has nothing to be compared with. */
export function columns({ iterations }: Report): Markup | null {
  if (iterations.length < 2) return null;
  const time = (iteration: IterationReport): number => sum(Object.values(timesOf(iteration)));
  const ofAgent = (iteration: IterationReport): number => timesOf(iteration).agentMs;
  return section(
    "Each iteration",
    html`<div class="charts">
      ${figure("Time", iterations, formatDuration, time, ofAgent)}
      ${figure("Cost", iterations, formatCost, ({ costUsd }) => costUsd ?? 0)}
      ${figure("Tokens", iterations, formatCount, (one) => one.inputTokens + one.outputTokens)}
    </div>`,
  );
}

/** Fewer columns than this do not fill the width: three fat blocks would say less. */
const FEWEST_SLOTS = 10;
/** What is left below the columns for the numbers of the iterations. */
const FLOOR = 80;
/** Further right, and a number of three digits would be cut off on paper. */
const RIGHTMOST = 97;

/** `part`: what of a column is the agent's. */
function figure(
  name: string,
  iterations: IterationReport[],
  format: (value: number) => string,
  whole: (iteration: IterationReport) => number,
  part = whole,
): Markup | null {
  const heights = iterations.map(whole);
  const most = Math.max(...heights);
  if (most === 0) return null;
  const slot = 100 / Math.max(iterations.length, FEWEST_SLOTS);
  const peak = `at most ${format(most)}, in iteration ${iterations[heights.indexOf(most)]?.iteration ?? 0}`;
  const column = (iteration: IterationReport, index: number): Markup => {
    const rect = (look: string, value: number): Markup => {
      const height = (value / most) * FLOOR;
      return html`<rect class="${look}" x="${fixed((index + 0.1) * slot)}%" y="${fixed(FLOOR - height)}%"
      width="${fixed(slot * 0.8)}%" height="${fixed(height)}%"/>`;
    };
    const title = `iteration ${iteration.iteration}: ${format(whole(iteration))}`;
    return html`<g><title>${title}</title>${rect("rest", whole(iteration))}${rect("agent", part(iteration))}</g>`;
  };
  const label = (index: number): Markup =>
    html`<text x="${fixed(Math.min(slot * (index + 0.5), RIGHTMOST))}%" y="98%">${iterations[index]?.iteration ?? 0}</text>`;
  return html`<figure>
    <figcaption>${name} <span>${peak}</span></figcaption>
    <svg role="img" aria-label="${name} of each iteration, ${peak}">
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
