import { formatCost, formatCount } from "../../costs.js";
import { formatDuration } from "../../duration.js";
import {
  axisOf,
  type CheckLine,
  type CheckRow,
  type Detail,
  LOOKS,
  type Look,
  numberOf,
  type PageIteration,
  type Span,
  sum,
} from "./shapes.js";

/**
 * The parts of a page about a run, for `ralph report --html` and for the dashboard: the same shapes, words and classes
 * (templates/parts.css). Each page says how an element is made: as escaped markup, or as an element of preact.
 */

type Child<Node> = Node | string | null;

/** Makes an element; an attribute that is undefined is left out. */
export type Make<Node> = (
  tag: string,
  attributes: Record<string, string | number | undefined>,
  ...children: Child<Node>[]
) => Node;

/** More bars than this get room to the side on a phone. */
const FITS_ON_A_PHONE = 40;
/** More columns than this are narrow ones. */
const FITS_ON_PAPER = 25;
/** Closer (in percent), and one number would cover the other; further right, and the edge would cut it. */
const ROOM_FOR_A_NUMBER = 6;
const [FIRST_NUMBER, LAST_NUMBER] = [1.5, 97];
/** In percent. Thinner, and a bar could not be seen. */
const THINNEST = 0.3;
/** Between two bars that follow each other at once. */
const SEAM = 0.15;
/** Fewer columns than this do not fill the width: three fat blocks would say less. */
const FEWEST_SLOTS = 10;
/** What is left below the columns for the numbers of the iterations. */
const FLOOR = 80;
/** Further right, and a number of three digits would be cut off on paper. */
const RIGHTMOST = 97;

const NAMES = Object.keys(LOOKS) as Look[];

type Href = (iteration: PageIteration) => string;

export function sign<Node>(make: Make<Node>, look: Look): Node {
  const { word, sign: text } = LOOKS[look];
  return make("span", { class: `sign ${look}`, role: "img", "aria-label": word }, text);
}

/** The whole run on one axis of time, a bar per iteration; the paler part is the checks. */
export function timeline<Node>(make: Make<Node>, iterations: PageIteration[], href: Href): Node {
  const { spans, totalMs } = axisOf(iterations);
  const percent = (ms: number): number => (totalMs === 0 ? 0 : (ms / totalMs) * 100);
  const bars = spans.flatMap((span) => barOf(make, span, percent, href));
  let last = Number.NEGATIVE_INFINITY;
  const numbers = spans.flatMap(({ one, startMs }) => {
    const center = percent(startMs + (one.agentMs + one.restMs) / 2);
    const middle = Math.min(Math.max(center, FIRST_NUMBER), LAST_NUMBER);
    if (middle - last < ROOM_FOR_A_NUMBER) return [];
    last = middle;
    return [make("text", { x: `${fixed(middle)}%`, y: "96%" }, String(one.iteration))];
  });
  const label = `Bars of the iterations, ${formatDuration(totalMs)} in all`;
  const defs = make("defs", {}, ...texturesOf(make));
  return make(
    "div",
    { class: `timeline ${spans.length > FITS_ON_A_PHONE ? "many" : "few"}` },
    make("svg", { role: "group", "aria-label": label }, defs, ...bars, ...numbers),
  );
}

/** Laid over the bars, so that they differ without colour, too. */
function texturesOf<Node>(make: Make<Node>): Node[] {
  return Object.entries(LOOKS).flatMap(([look, known]) => {
    if (!("texture" in known)) return [];
    const { size, width, height, turn } = known.texture;
    const pattern = { id: look, width: size, height: size, patternUnits: "userSpaceOnUse" };
    const ink = make("rect", { class: "ink", width, height });
    return [make("pattern", { ...pattern, patternTransform: `rotate(${turn})` }, ink)];
  });
}

/** With a line for the wait before it, where that is drawn shorter than it was. */
function barOf<Node>(make: Make<Node>, span: Span, percent: (ms: number) => number, href: Href): Node[] {
  const { one, startMs, drawnMs } = span;
  const { look, waitMs, agentMs, restMs } = one;
  const x = percent(startMs);
  const width = Math.max(percent(agentMs + restMs) - SEAM, THINNEST);
  const agent = Math.min(Math.max(percent(agentMs), THINNEST), width);
  const part = (attributes: Record<string, string>, from: number, wide: number): Node =>
    make("rect", { ...attributes, x: `${fixed(from)}%`, width: `${fixed(wide)}%`, height: "70%" });
  const ofIt = restMs === 0 ? "" : `, of it ${formatDuration(agentMs)} the agent`;
  const times = `${formatDuration(agentMs + restMs)}${ofIt}`;
  const bar = make(
    "a",
    { class: look, href: href(one), tabindex: -1 },
    make("title", {}, `iteration ${numberOf(one)}: ${LOOKS[look].word}, ${times}`),
    part({ class: "agent" }, x, agent),
    part({ class: "rest" }, x + agent, width - agent),
    part({ fill: `url(#${look})` }, x, width),
  );
  const wait = { x1: `${fixed(percent(startMs - drawnMs))}%`, x2: `${fixed(x)}%`, y1: "35%", y2: "35%" };
  return drawnMs === waitMs ? [bar] : [make("line", wait), bar];
}

export function legend<Node>(make: Make<Node>, iterations: PageIteration[]): Node {
  const entry = (look: string, words: string, ...shown: Node[]): Node =>
    make("li", { class: look }, make("svg", { "aria-hidden": "true" }, ...shown), ` ${words}`);
  const whole = (attributes: Record<string, string>): Node =>
    make("rect", { ...attributes, width: "100%", height: "100%" });
  const entries = NAMES.flatMap((look) => {
    const count = iterations.filter((one) => one.look === look).length;
    const shown = [whole({ class: "agent" }), whole({ fill: `url(#${look})` })];
    return count === 0 ? [] : [entry(look, `${count} ${LOOKS[look].word}`, ...shown)];
  });
  if (iterations.some(({ checks }) => checks.length > 0))
    entries.push(entry("", "paler: checks", whole({ class: "rest" })));
  const cut = axisOf(iterations).spans.map(({ one, drawnMs }) => (drawnMs < one.waitMs ? one.waitMs : 0));
  const cutMs = sum(cut);
  const line = (): Node => make("line", { x2: "100%", y1: "50%", y2: "50%" });
  if (cutMs > 0) entries.push(entry("", `${formatDuration(cutMs)} of waiting, drawn shorter`, line()));
  return make("ul", { class: "legend note" }, ...entries);
}

/** Time, cost and tokens of each iteration side by side; one alone has nothing to be compared with. */
export function columns<Node>(make: Make<Node>, iterations: PageIteration[]): Node | null {
  if (iterations.length < 2) return null;
  const time = ({ agentMs, restMs }: PageIteration): number => agentMs + restMs;
  const ofAgent = ({ agentMs }: PageIteration): number => agentMs;
  return make(
    "div",
    { class: "charts" },
    figure(make, iterations, { name: "Time", format: formatDuration, whole: time, part: ofAgent }),
    figure(make, iterations, { name: "Cost", format: formatCost, whole: ({ costUsd }) => costUsd ?? 0 }),
    figure(make, iterations, { name: "Tokens", format: formatCount, whole: ({ tokens }) => tokens }),
  );
}

interface Figure {
  name: string;
  format: (value: number) => string;
  whole: (iteration: PageIteration) => number;
  /** What of a column is the agent's. */
  part?: (iteration: PageIteration) => number;
}

function figure<Node>(
  make: Make<Node>,
  iterations: PageIteration[],
  { name, format, whole, part = whole }: Figure,
): Node | null {
  const heights = iterations.map(whole);
  const most = heights.reduce((peak, height) => Math.max(peak, height), 0);
  if (most === 0) return null;
  const slot = 100 / Math.max(iterations.length, FEWEST_SLOTS);
  const peak = `at most ${format(most)}, in iteration ${iterations[heights.indexOf(most)]?.iteration ?? 0}`;
  const column = (index: number, look: string, value: number): Node => {
    const height = (value / most) * FLOOR;
    const [x, y] = [`${fixed((index + 0.1) * slot)}%`, `${fixed(FLOOR - height)}%`];
    return make("rect", { class: look, x, y, width: `${fixed(slot * 0.8)}%`, height: `${fixed(height)}%` });
  };
  const shown = iterations.map((one, index) => {
    const title = make("title", {}, `iteration ${numberOf(one)}: ${format(whole(one))}`);
    return make("g", {}, title, column(index, "rest", whole(one)), column(index, "agent", part(one)));
  });
  const labels = [0, iterations.length - 1].map((index) => {
    const x = `${fixed(Math.min(slot * (index + 0.5), RIGHTMOST))}%`;
    return make("text", { x, y: "98%" }, String(iterations[index]?.iteration ?? 0));
  });
  const drawing = { role: "img", "aria-label": `${name} of each iteration, ${peak}` };
  return make(
    "figure",
    {},
    make("figcaption", {}, `${name} `, make("span", {}, peak)),
    make("svg", drawing, ...shown, ...labels),
  );
}

/** A row per check, a column per iteration. */
export function grid<Node>(make: Make<Node>, rows: CheckRow[], iterations: PageIteration[]): Node {
  const names = iterations.map(numberOf);
  const shown = rows.map(({ command, became, cells }) => {
    const ran = cells.filter(({ look }) => look !== "not-run");
    const passed = ran.filter(({ look }) => look !== "failed").length;
    const words = `${passed} of ${ran.length} passed${became && `, ${became}`}`;
    const name = [make("code", { title: command }, command), " ", make("small", {}, words)];
    const marks = cells.map(({ look, words: said }, index) =>
      make(
        "td",
        { class: look, title: `iteration ${names[index]}: ${said}` },
        make("span", { class: "cell", "aria-hidden": "true" }, look === "not-run" ? "" : LOOKS[look].sign),
        make("span", { class: "hidden" }, said),
      ),
    );
    return make("tr", {}, make("th", { scope: "row" }, ...name), ...marks);
  });
  const heads = iterations.map((one) => make("th", { scope: "col" }, String(one.iteration)));
  return make(
    "table",
    { class: `grid ${iterations.length > FITS_ON_PAPER ? "wide" : "narrow"}` },
    make("thead", {}, make("tr", {}, make("td", {}), ...heads)),
    make("tbody", {}, ...shown),
  );
}

/** What was said and found in an iteration; `printed` shows a long text, null where there is none. */
export function inside<Node>(
  make: Make<Node>,
  { error, finalMessage, checks, violations, commits }: Detail,
  printed: (text: string) => Node | null,
): Child<Node>[] {
  const item = (look: Look, ...shown: Child<Node>[]): Node => make("li", {}, sign(make, look), " ", ...shown);
  const words = (text: string): Node => make("span", { class: "words" }, text);
  const check = ({ command, look, words: said, output = "", log = "" }: CheckLine): Node =>
    item(
      look,
      make("code", {}, command),
      " ",
      make("span", { class: "note" }, said),
      printed(output),
      log === "" ? null : make("p", { class: "note" }, "All of its output: ", make("code", {}, log)),
    );
  const commit = ({ task, passed, message }: Detail["commits"][number]): Node =>
    item(passed ? "passed" : "failed", `${task}${passed ? "" : " failed"} `, words(message));
  const list = (items: Node[]): Node | null => (items.length === 0 ? null : make("ul", {}, ...items));
  const parts: [name: string, shown: Node | null][] = [
    ["The agent failed", printed(error)],
    ["Final message", printed(finalMessage)],
    ["Checks", list(checks.map(check))],
    ["Violations", list(violations.map((what) => item("failed", words(what))))],
    ["Commits", list(commits.map(commit))],
  ];
  return parts.flatMap(([name, shown]) => (shown === null ? [] : [make("h3", {}, name), shown]));
}

/** Of a figure the first word is the one to see. */
export function totals<Node>(make: Make<Node>, rows: [name: string, value: string][]): Node {
  const shown = rows.map(([name, value]) => {
    const [, amount = value, more = ""] = /^(\S+) ?(.*)$/.exec(value) ?? [];
    const title = name.charAt(0).toUpperCase() + name.slice(1);
    return make("div", {}, make("dt", {}, title), make("dd", {}, amount, " ", make("small", {}, more)));
  });
  return make("dl", { class: "totals" }, ...shown);
}

function fixed(value: number): string {
  return value.toFixed(2);
}
