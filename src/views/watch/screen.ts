import { formatDuration } from "../../duration.js";
import { groupOf } from "../../records/result.js";
import type { LoopRow } from "../../workers/worker.js";
import { type Color, costCell, type Formatter } from "../figures.js";
import { harmlessLine } from "../harmless.js";
import { broken, cut, pad, screenText, tableLines, widthOf, wrap } from "../layout.js";
import type { Live } from "./live.js";
import { GROUP_NAMES, groupRow, selectedIndex, selectedRow, shownRows, type WatchState } from "./state.js";

export interface Size {
  columns: number;
  rows: number;
}

const LEAST_COLUMNS = 12;
/** The least heights for a title, and for the pane of the selected row. */
const TITLE_ROWS = 5;
const PANE_ROWS = 12;
/** From this width on the list and the selected one stand side by side. */
const WIDE_COLUMNS = 110;

/** The whole screen, a line for each row of the terminal, none as wide as the terminal itself. */
export function screenLines(state: WatchState, size: Size, format: Formatter): string[] {
  const canvas = canvasOf(Math.max(size.columns, LEAST_COLUMNS) - 1, format);
  const top = size.rows >= TITLE_ROWS ? [title(state, canvas)] : [];
  const height = Math.max(size.rows - top.length - 1, 0);
  const body = middle(state, size, height, canvas).map((line) => canvas.cut(line));
  const filling = Array<string>(Math.max(height - body.length, 0)).fill("");
  return [...top, ...body, ...filling, bottomLine(state, canvas)].slice(-size.rows);
}

function canvasOf(room: number, format: Formatter): Canvas {
  return { ...format, room, cut: (text, columns = room) => cut(text, columns, format.mark.more) };
}

function middle(state: WatchState, size: Size, height: number, canvas: Canvas): string[] {
  if (state.mode.kind === "help") return HELP.slice(0, height);
  if (state.mode.kind === "page") return pageLines(state.mode, state.live, height, canvas);
  const row = selectedRow(state);
  if (row === undefined || size.rows < PANE_ROWS) return list(state, height, canvas);
  const { mark, paint, room } = canvas;
  if (size.columns < WIDE_COLUMNS) {
    // The list above, as high as its rows and at most half of the screen.
    const rows = list(state, Math.min(shownRows(state).length + 1, Math.floor(height / 2)), canvas);
    const pane = paneLines(row, state.live, height - rows.length - 1, canvas);
    return [...rows, paint("dim", mark.rule.repeat(room)), ...pane];
  }
  const [left, right] = [Math.ceil(room / 2) - 2, Math.floor(room / 2) - 1];
  const rows = list(state, height, canvasOf(left, canvas));
  const pane = paneLines(row, state.live, height, canvasOf(right, canvas));
  const bar = paint("dim", mark.bar);
  return Array.from({ length: height }, (_, at) => `${pad(rows[at] ?? "", left)} ${bar} ${pane[at] ?? ""}`);
}

function title({ rows = [], filter, trouble, mode }: WatchState, { paint, cut, mark }: Canvas): string {
  if (trouble !== undefined) return paint("red", cut(`cannot look: ${screenText(trouble)}`));
  if (mode.kind === "page") return paint("bold", cut(["ralph watch", screenText(mode.title)].join(mark.dot)));
  const counts = GROUP_NAMES.flatMap((name) => {
    const count = rows.filter(({ result }) => groupOf(result) === name).length;
    return count === 0 ? [] : [`${count} ${name}`];
  });
  const wanted = [filter.status ?? "", filter.text.trim() && `"${screenText(filter.text)}"`].filter(Boolean);
  const only = wanted.length === 0 ? [] : [`only ${wanted.join(" with ")}`];
  return paint("bold", cut(["ralph watch", ...only, ...counts].join(mark.dot)));
}

/** The keys, in the order of their use; lines that fit into 40 columns. */
const HELP = [
  "j k, arrows   select",
  "g G           first, last",
  "PgUp PgDn     ten up, ten down",
  "a             answer the question",
  "s             steer: add to next prompt",
  "p             pause it",
  "r             resume it",
  "K             kill it (asks first)",
  "R             show its report",
  "d             show its diff",
  "l             show its log, live",
  "Enter         attach to the window",
  "f             filter: next status",
  "/             filter by text",
  "Esc           go back; clear the filter",
  "Ctrl+L        redraw the screen",
  "q             quit; the loops continue",
];

/** The rows of the table that fit, with the selected one among them. */
function list(state: WatchState, height: number, canvas: Canvas): string[] {
  const rows = shownRows(state);
  if (rows.length === 0) return nothing(state, canvas).slice(0, height);
  const index = selectedIndex(rows, state);
  const headHeight = height < 3 ? 0 : 1;
  const shown = height - headHeight;
  // The selected row is in the middle, except near both ends.
  const first = Math.max(Math.min(index - Math.floor(shown / 2), rows.length - shown), 0);
  const [head = "", ...lines] = table(rows, canvas);
  return [
    ...(headHeight === 0 ? [] : [canvas.paint("dim", `  ${head}`)]),
    ...lines
      .map((line, at) =>
        at === index ? canvas.paint("bold", `${canvas.mark.selected} ${line}`) : `  ${line}`,
      )
      .slice(first, first + shown),
  ];
}

function nothing({ rows, trouble }: WatchState, { room, paint }: Canvas): string[] {
  if (rows === undefined) return trouble === undefined ? ["", "Looking..."] : [];
  const text =
    rows.length === 0
      ? "No loop runs, and none ended today. Start one: ralph spawn"
      : "Nothing matches the filter; Esc shows all.";
  return ["", ...wrap(text, room).map((line) => paint("dim", line))];
}

/** Growing figures move nothing. */
const HEAD = ["NAME", "STATUS", " ITER", "  TIME", " COST", "LAST LINE"];
const MARGIN = 2;
const NAME_COLUMNS = 32;
/** With less room than this, the last line of a row is left out. */
const LAST_LINE_COLUMNS = 12;

/** The head and the rows. All rows decide the widths of the columns; a column that does not fit is left out. */
function table(rows: LoopRow[], { room, paint, cut, mark }: Canvas): string[] {
  const width = room - MARGIN;
  const longest = Math.min(NAME_COLUMNS, Math.floor(room / 3));
  const cells = rows.map((row) => [
    cut(screenText(row.name) || "-", longest),
    screenText(row.result),
    ...figures(row),
    screenText(row.lastLine),
  ]);
  const linesOf = (columns: number): string[] =>
    tableLines(
      [HEAD, ...cells].map((row) => row.slice(0, columns)),
      {
        width,
        right: [2, 3, 4],
        mark: mark.more,
        paint: (cell, row, column) => {
          const shown = rows[row - 1];
          return column === 1 && shown !== undefined ? paint(groupRow(shown).color, cell) : cell;
        },
      },
    );
  const narrow = linesOf(HEAD.length - 1);
  const isRoomy = widthOf(narrow[0] ?? "") + LAST_LINE_COLUMNS <= width;
  return (isRoomy ? linesOf(HEAD.length) : narrow).map((line) => cut(line, width));
}

/** The keys in the last line; without MORE_KEYS they fit into 80 columns. */
const KEYS = "a answer  s steer  p pause  r resume  K kill  R report  d diff";
const MORE_KEYS = "  l log  f filter  / search";
const LEAVE = "  q quit  ? help";

const TYPED = { answer: "Answer", steer: "Steer" };

function bottomLine(state: WatchState, { room, paint, cut }: Canvas): string {
  const { mode, filter, message } = state;
  if (mode.kind === "filter") return `${cut(`/${screenText(filter.text)}`, room - 1)}_`;
  if (mode.kind === "type") {
    const start = `${TYPED[mode.action]} ${cut(screenText(mode.name), Math.floor(room / 3))}: `;
    return cut(`${start}${lastPart(mode.text, room - start.length - 1)}_`);
  }
  if (mode.kind === "confirm") {
    // The end of the question stays visible, however long the name is.
    const name = cut(screenText(mode.name), room - "Kill ? (y/N)".length);
    return paint("yellow", cut(`Kill ${name}? (y/N)`));
  }
  if (message !== undefined && message.text !== "") {
    const text = cut(screenText(message.text));
    return message.isError ? paint("red", text) : text;
  }
  if (mode.kind === "help") return paint("dim", cut("q quit, any other key goes back"));
  if (mode.kind === "page") return paint("dim", cut("Esc back  q quit  j k, PgUp PgDn, g G scroll"));
  const all = `${KEYS}${MORE_KEYS}${LEAVE}`;
  return paint("dim", cut(all.length <= room ? all : `${KEYS}${LEAVE}`));
}

/** The end of a text that fits: the latest typed characters stay visible. */
function lastPart(text: string, columns: number): string {
  const characters = [...harmlessLine(text)];
  while (characters.length > 0 && widthOf(characters.join("")) > columns) characters.shift();
  return characters.join("");
}

interface Canvas extends Formatter {
  room: number;
  cut(text: string, room?: number): string;
}

const QUESTION_LINES = 4;

/** The selected row: its state, its checks, its question, and the end of its output. */
function paneLines(row: LoopRow, live: Live | undefined, height: number, canvas: Canvas): string[] {
  const own = live?.run === row.run ? live : undefined;
  const { paint, cut, mark, room } = canvas;
  const standing = [screenText(row.name), row.result, ...figures(row)].filter((word) => word !== "-");
  const about = [row.recipe, row.tags.join(", "), row.workspace]
    .map(screenText)
    .filter((word) => word !== "");
  const asks = row.question === null ? [] : wrap(`asks: ${screenText(row.question)} (a answers)`, room);
  const question = asks.flatMap((line) => broken(line, room)).slice(0, QUESTION_LINES);
  const head = [
    paint("bold", cut(standing.join(mark.dot))),
    paint("dim", cut(about.join(mark.dot))),
    ...checkLines(own, canvas),
    ...question.map((line) => paint("yellow", line)),
  ].slice(0, height);
  return [...head, ...endOf(own?.lines ?? [], 0, height - head.length, canvas)];
}

function figures({ status, iteration, maxIterations, activeMs, costUsd }: LoopRow): string[] {
  if (status === "unknown") return ["-", "-", "-"];
  const time = formatDuration(Math.floor(activeMs / 1000) * 1000).replace(".0s", "s");
  return [maxIterations > 0 ? `${iteration}/${maxIterations}` : String(iteration), time, costCell(costUsd)];
}

function checkLines(live: Live | undefined, { paint, cut, mark }: Canvas): string[] {
  const checks = live?.checks.filter(({ skipped }) => skipped === null) ?? [];
  if (checks.length === 0) return [];
  const signs = checks.map(
    ({ passed, command }) => `${passed ? mark.pass : mark.fail} ${screenText(command)}`,
  );
  const color: Color = checks.every(({ passed }) => passed) ? "green" : "red";
  return [paint(color, cut(`checks: ${signs.join("  ")}`))];
}

/** The last lines that fit; `back`: without so many at the end. */
function endOf(lines: string[], back: number, height: number, { room }: Canvas): string[] {
  const shown: string[] = [];
  for (let at = lines.length - 1 - back; at >= 0 && shown.length < height; at -= 1)
    shown.unshift(...broken(lines[at] as string, room));
  return height <= 0 ? [] : shown.slice(-height);
}

/** The page that fills the screen: a log, a report or a diff. */
function pageLines(
  { lines, at }: WatchState["mode"] & { kind: "page" },
  live: Live | undefined,
  height: number,
  canvas: Canvas,
): string[] {
  if (lines === undefined) return endOf(live?.lines ?? [], at, height, canvas);
  const shown: string[] = [];
  for (let index = at; index < lines.length && shown.length < height; index += 1) {
    const line = lines[index] as string;
    const color = DIFF_COLORS[line[0] ?? ""];
    shown.push(...broken(line, canvas.room).map((one) => (color ? canvas.paint(color, one) : one)));
  }
  return shown.slice(0, height);
}

const DIFF_COLORS: Record<string, Color> = { "+": "green", "-": "red", "@": "cyan" };
