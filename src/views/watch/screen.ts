import { formatDuration } from "../../duration.js";
import { formatCost } from "../figures.js";
import type { Formatter } from "../format.js";
import { cut as cutTo, screenText, widthOf, wrap } from "../layout.js";
import { tableLines } from "../table.js";
import {
  STATUS_NAMES,
  STATUSES,
  selectedIndex,
  selectedRow,
  shownRows,
  type WatchRow,
  type WatchState,
} from "./state.js";

export interface Size {
  columns: number;
  rows: number;
}

export interface Style {
  paint: Formatter["paint"];
  useEmoji: boolean;
}

const MARKS = { selected: "❯", cut: "…", separator: " · " };
const PLAIN_MARKS = { selected: ">", cut: "...", separator: ", " };
const LEAST_COLUMNS = 12;
/** From this height on there is room for a title, and for more about the selected row. */
const TITLE_ROWS = 5;
const DETAIL_ROWS = 12;

interface Canvas {
  room: number;
  marks: typeof MARKS;
  paint: Formatter["paint"];
  cut(text: string, room?: number): string;
}

/** The whole screen, a line for each row of the terminal, none as wide as the terminal itself. */
export function screenLines(state: WatchState, size: Size, { paint, useEmoji }: Style): string[] {
  const room = Math.max(size.columns, LEAST_COLUMNS) - 1;
  const marks = useEmoji ? MARKS : PLAIN_MARKS;
  const canvas: Canvas = {
    room,
    marks,
    paint,
    cut: (text, columns = room) => cutTo(text, columns, marks.cut),
  };
  const bottom = [...(size.rows >= DETAIL_ROWS ? details(state, canvas) : []), bottomLine(state, canvas)];
  const top = size.rows >= TITLE_ROWS ? [title(state, canvas)] : [];
  const height = Math.max(size.rows - top.length - bottom.length, 0);
  const body = bodyLines(state, height, canvas);
  const filling = Array<string>(Math.max(height - body.length, 0)).fill("");
  return [...top, ...body, ...filling, ...bottom].slice(-size.rows);
}

function title({ rows = [], filter, trouble }: WatchState, { paint, cut, marks }: Canvas): string {
  if (trouble !== undefined) return paint("red", cut(`cannot look: ${screenText(trouble)}`));
  const counts = STATUS_NAMES.map((status) => [rows.filter((row) => row.status === status).length, status])
    .filter(([count]) => count !== 0)
    .map((words) => words.join(" "));
  const wanted = [filter.status ?? "", filter.text.trim() && `"${screenText(filter.text)}"`].filter(Boolean);
  const only = wanted.length === 0 ? [] : [`only ${wanted.join(" with ")}`];
  return paint("bold", cut(["ralph watch", ...only, ...counts].join(marks.separator)));
}

/** The keys, in the order of their use; lines that fit into 40 columns. */
const HELP = [
  "",
  "j k, arrows   select",
  "g G           first and last",
  "PgUp PgDn     ten up and down",
  "a, Enter      attach to it",
  "l             show its log",
  "p             pause it",
  "r             resume it",
  "K             kill it (asks first)",
  "f             only one status, next one",
  "/             only what has a text",
  "Esc           show all again",
  "Ctrl+L        draw it all anew",
  "q             leave; all goes on",
];

function bodyLines(state: WatchState, height: number, canvas: Canvas): string[] {
  if (state.mode.kind === "help") return HELP.slice(0, height).map((line) => canvas.cut(line));
  const rows = shownRows(state);
  if (rows.length === 0) return nothing(state, canvas).slice(0, height);
  const index = selectedIndex(rows, state);
  const headHeight = height < 3 ? 0 : 1;
  const shown = height - headHeight;
  // The selected row is in the middle, except near both ends.
  const first = Math.max(Math.min(index - Math.floor(shown / 2), rows.length - shown), 0);
  const [head = "", ...lines] = table(rows, first, first + shown, canvas);
  return [
    ...(headHeight === 0 ? [] : [canvas.paint("dim", `  ${head}`)]),
    ...lines.map((line, at) =>
      first + at === index ? canvas.paint("bold", `${canvas.marks.selected} ${line}`) : `  ${line}`,
    ),
  ];
}

function nothing({ rows, trouble }: WatchState, { room, paint }: Canvas): string[] {
  if (rows === undefined) return trouble === undefined ? ["", "Looking..."] : [];
  const text =
    rows.length === 0
      ? "Nothing is running; start one with ralph spawn."
      : "Nothing matches the filter; Esc shows all.";
  return ["", ...wrap(text, room).map((line) => paint("dim", line))];
}

const GAP = 2;
const NOT_KNOWN = "-";
const NAME = { least: 10, most: 32 };
const LAST_LINE_LEAST = 16;

/** From the one that is needed most: what does not fit is left out from the end. Growing figures move nothing. */
const COLUMNS: [head: string, text: (row: WatchRow) => string][] = [
  ["STATUS ", ({ status }) => status],
  [" ITER", iterationOf],
  ["  TIME", elapsedOf],
  [" COST", costOf],
];

/** The head and the rows from `first` to `end`; every row counts for the width of the columns. */
function table(rows: WatchRow[], first: number, end: number, { room, paint, cut, marks }: Canvas): string[] {
  const widest = (head: string, text: (row: WatchRow) => string): number =>
    rows.reduce((most, row) => Math.max(most, widthOf(text(row))), head.length);
  const longest = Math.min(widest("NAME", nameOf), NAME.most);
  const least = Math.min(longest, NAME.least);
  const sized = COLUMNS.map(([head, text]) => ({ head, text, width: widest(head, text) }));
  const left = (count: number): number =>
    sized.slice(0, count).reduce((free, { width }) => free - width - GAP, room - GAP);
  const columns = sized.slice(0, [4, 3, 2, 1].find((count) => left(count) >= least) ?? 0);
  const free = left(columns.length);
  const hasLastLine = free - LAST_LINE_LEAST - GAP >= least;
  const name = Math.min(longest, hasLastLine ? free - LAST_LINE_LEAST - GAP : free);
  const head = ["NAME".padEnd(name), ...columns.map(({ head: text, width }) => text.padStart(width))];
  const cells = rows
    .slice(first, end)
    .map((row) => [
      cut(nameOf(row), name),
      ...columns.map(({ text }) => text(row)),
      ...(hasLastLine ? [screenText(row.lastLine)] : []),
    ]);
  return tableLines([[...head, ...(hasLastLine ? ["LAST LINE"] : [])], ...cells], {
    width: room - GAP,
    right: [2, 3, 4],
    mark: marks.cut,
    paint: (cell, row, column) => {
      if (column !== 1 || row === 0) return cell;
      const { color } = STATUSES[cell.trimEnd() as WatchRow["status"]];
      return color === "reset" ? cell : paint(color, cell);
    },
  });
}

function nameOf({ name }: WatchRow): string {
  return screenText(name) || NOT_KNOWN;
}

function iterationOf({ status, iteration, maxIterations }: WatchRow): string {
  if (status === "unknown" || !Number.isFinite(iteration)) return NOT_KNOWN;
  return maxIterations > 0 ? `${iteration}/${maxIterations}` : String(iteration);
}

function elapsedOf({ status, activeMs }: WatchRow): string {
  if (status === "unknown" || !(activeMs >= 0)) return NOT_KNOWN;
  return formatDuration(Math.floor(activeMs / 1000) * 1000).replace(".0s", "s");
}

function costOf({ costUsd }: WatchRow): string {
  return costUsd === null || !Number.isFinite(costUsd) ? NOT_KNOWN : formatCost(costUsd);
}

/** About the selected row, with all of its last line that fits. */
function details(state: WatchState, { paint, cut, marks }: Canvas): string[] {
  const row = state.mode.kind === "help" ? undefined : selectedRow(state);
  if (row === undefined) return ["", "", ""];
  const cost = costOf(row) === NOT_KNOWN ? "" : costOf(row);
  const words = [row.name, cost, row.reason ?? "", row.recipe, row.tags.join(", "), row.workspace];
  const shown = words.map(screenText).filter((word) => word !== "");
  return ["", paint("dim", cut(shown.join(marks.separator))), cut(screenText(row.lastLine))];
}

const KEYS = ["a attach", "l logs", "p pause", "r resume", "K kill", "f filter", "/ search"];
const ALWAYS = ["? help", "q quit"];

function bottomLine({ mode, filter, message }: WatchState, { room, paint, cut }: Canvas): string {
  if (mode.kind === "filter") return `${cut(`/${screenText(filter.text)}`, room - 1)}_`;
  if (mode.kind === "confirm") {
    // However long the name is, the end of the question is to be seen.
    const name = cut(screenText(mode.name), room - "Kill ? (y/N)".length);
    return paint("yellow", cut(`Kill ${name}? (y/N)`));
  }
  if (message !== undefined && message.text !== "") {
    const text = cut(screenText(message.text));
    return message.isError ? paint("red", text) : text;
  }
  if (mode.kind === "help") return paint("dim", cut("any key goes back"));
  const count = KEYS.findLastIndex((_, index) => keysLine(index + 1).length <= room) + 1;
  return paint("dim", keysLine(count).slice(0, room));
}

/** The first keys, and those that are always shown. */
function keysLine(count: number): string {
  return [...KEYS.slice(0, count), ...ALWAYS].join("  ");
}
