import { formatDuration } from "../../../duration.js";
import type { IterationReport } from "../../../records/iteration.js";
import type { Report } from "../../../records/report.js";
import { formatCost, formatCount } from "../../figures.js";
import { partsOf } from "./axis.js";
import { html, type Markup } from "./markup.js";

interface Chart {
  name: string;
  format: (value: number) => string;
  /** From the bottom up. */
  parts: (iteration: IterationReport) => number[];
}

/** Time, cost and tokens of each iteration side by side; one alone has nothing to be compared with. */
export function columns(report: Report): Markup | null {
  if (report.iterations.length < 2) return null;
  const charts = chartsOf(report).map((chart) => figure(chart, report.iterations));
  return html`<section aria-labelledby="columns">
    <h2 id="columns">Each iteration</h2>
    <div class="charts">${charts}</div>
  </section>`;
}

function chartsOf(report: Report): Chart[] {
  const time = (iteration: IterationReport): number[] => {
    const { agentMs, restMs } = partsOf(iteration, report);
    return [agentMs, restMs];
  };
  return [
    { name: "Time", format: formatDuration, parts: time },
    { name: "Cost", format: formatCost, parts: ({ costUsd }) => [costUsd ?? 0] },
    { name: "Tokens", format: formatCount, parts: (spent) => [spent.inputTokens + spent.outputTokens] },
  ];
}

/** Fewer columns than this do not fill the width: three fat blocks would say less. */
const FEWEST_SLOTS = 10;
/** What is left below the columns for the numbers of the iterations. */
const FLOOR = 80;

function figure({ name, format, parts }: Chart, iterations: IterationReport[]): Markup | null {
  const heights = iterations.map((iteration) => sum(parts(iteration)));
  const most = Math.max(...heights);
  if (most === 0) return null;
  const slot = 100 / Math.max(iterations.length, FEWEST_SLOTS);
  const peak = iterations[heights.indexOf(most)]?.iteration ?? 0;
  const column = (iteration: IterationReport, index: number): Markup => html`<g>
    <title>iteration ${iteration.iteration}: ${format(sum(parts(iteration)))}</title>
    ${stack(
      parts(iteration).map((value) => (value / most) * FLOOR),
      index * slot,
      slot,
    )}</g>`;
  return html`<figure>
    <figcaption>${name} <span>at most ${format(most)}, in iteration ${peak}</span></figcaption>
    <svg role="img" aria-label="${name} of each iteration, at most ${format(most)} in iteration ${peak}">
      ${iterations.map(column)}
      ${labels(iterations, slot)}
    </svg>
  </figure>`;
}

function stack(heights: number[], x: number, slot: number): Markup[] {
  let top = FLOOR;
  return heights.map((height, index) => {
    top -= height;
    return html`<rect class="${index === 0 ? "agent" : "rest"}" x="${(x + slot * 0.1).toFixed(2)}%"
      y="${top.toFixed(2)}%" width="${(slot * 0.8).toFixed(2)}%" height="${height.toFixed(2)}%"/>`;
  });
}

/** Further right, and a number of three digits would be cut off on paper. */
const RIGHTMOST = 97;

/** The first and the last. */
function labels(iterations: IterationReport[], slot: number): Markup[] {
  return [0, iterations.length - 1].map(
    (index) =>
      html`<text x="${Math.min(slot * (index + 0.5), RIGHTMOST).toFixed(2)}%" y="98%">${iterations[index]?.iteration ?? 0}</text>`,
  );
}

function sum(values: number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
