import type { Glance, GlanceStatus } from "../../workers/glance.js";
import { cutTo, screenText } from "../cells.js";
import type { Formatter } from "../format.js";
import { wrap } from "../wrap.js";
import { HELP, keysLine } from "./help.js";
import { detailsOf, watchTable } from "./table.js";
import { indexIn, STATUSES, selectedRow, shownRows, type Watched } from "./watched.js";

export interface Size {
  columns: number;
  rows: number;
}

export interface Style {
  paint: Formatter["paint"];
  useEmoji: boolean;
}

type Marks = typeof MARKS;

const MARKS = { selected: "❯", cut: "…", separator: " · " };
const PLAIN_MARKS: Marks = { selected: ">", cut: "...", separator: ", " };
const LEAST_COLUMNS = 12;

/** The whole screen, a line for each row of the terminal, none as wide as the terminal itself. */
export function screenLines(watched: Watched, size: Size, { paint, useEmoji }: Style): string[] {
  const room = Math.max(size.columns, LEAST_COLUMNS) - 1;
  const marks = useEmoji ? MARKS : PLAIN_MARKS;
  const cut = (text: string): string => cutTo(text, room, marks.cut);
  const look: Look = { room, marks, paint, cut };
  const bottom = [...(size.rows >= DETAIL_ROWS ? details(watched, look) : []), bottomLine(watched, look)];
  const top = size.rows >= TITLE_ROWS ? [title(watched, look)] : [];
  const height = Math.max(size.rows - top.length - bottom.length, 0);
  const body = bodyLines(watched, height, look);
  const filling = Array<string>(Math.max(height - body.length, 0)).fill("");
  return [...top, ...body, ...filling, ...bottom].slice(-size.rows);
}

/** From this height on there is room for a title, and for more about the selected row. */
const TITLE_ROWS = 5;
const DETAIL_ROWS = 12;

interface Look {
  room: number;
  marks: Marks;
  paint: Formatter["paint"];
  cut(text: string): string;
}

function title(watched: Watched, { paint, cut, marks }: Look): string {
  if (watched.trouble !== undefined) return paint("red", cut(`cannot look: ${screenText(watched.trouble)}`));
  const { rows = [], filter } = watched;
  const counts = STATUSES.map((status) => [rows.filter((row) => row.status === status).length, status])
    .filter(([count]) => count !== 0)
    .map((words) => words.join(" "));
  const wanted = [filter.status ?? "", filter.text.trim() && `"${screenText(filter.text)}"`].filter(Boolean);
  const only = wanted.length === 0 ? [] : [`only ${wanted.join(" with ")}`];
  return paint("bold", cut(["ralph watch", ...only, ...counts].join(marks.separator)));
}

function bodyLines(watched: Watched, height: number, look: Look): string[] {
  if (watched.mode.kind === "help") return HELP.slice(0, height).map(look.cut);
  const rows = shownRows(watched);
  if (rows.length === 0) return nothing(watched, look).slice(0, height);
  const table = watchTable(rows, look.room - MARGIN, look.marks.cut);
  const head = height < 3 ? [] : [look.paint("dim", `${" ".repeat(MARGIN)}${table.head}`)];
  const index = indexIn(rows, watched.selected);
  const first = firstShown(index, rows.length, height - head.length);
  const lines = rows
    .slice(first, first + height - head.length)
    .map((row, place) => rowLine(table.cells(row), row.status, first + place === index, look));
  return [...head, ...lines];
}

/** Selected row in the middle, except near both ends. */
function firstShown(index: number, count: number, height: number): number {
  return Math.max(Math.min(index - Math.floor(height / 2), count - height), 0);
}

const MARGIN = 2;

type Cells = ReturnType<ReturnType<typeof watchTable>["cells"]>;

function rowLine(cells: Cells, status: GlanceStatus, isSelected: boolean, { paint, marks }: Look): string {
  const { name, status: word, more } = cells;
  const color = COLORS[status];
  const coloured = `${name}${color === undefined ? word : paint(color, word)}${more}`.trimEnd();
  return isSelected ? paint("bold", `${marks.selected} ${coloured}`) : `  ${coloured}`;
}

const COLORS: Record<GlanceStatus, "green" | "yellow" | "red" | undefined> = {
  running: "green",
  paused: "yellow",
  waiting: "yellow",
  crashed: "red",
  unknown: "red",
  failed: "red",
  stopped: undefined,
};

function nothing({ rows, trouble }: Watched, { room, paint }: Look): string[] {
  if (rows === undefined) return trouble === undefined ? ["", "Looking..."] : [];
  const text = rows.length === 0 ? NOTHING : "Nothing matches the filter; Esc shows all.";
  return ["", ...wrap(text, room).map((line) => paint("dim", line))];
}

const NOTHING = "Nothing is running; start one with ralph spawn.";

/** About the selected row, with all of its last line that fits. */
function details(watched: Watched, { paint, cut, marks }: Look): string[] {
  const row: Glance | undefined = watched.mode.kind === "help" ? undefined : selectedRow(watched);
  if (row === undefined) return ["", "", ""];
  return ["", paint("dim", cut(detailsOf(row, marks.separator))), cut(screenText(row.lastLine))];
}

function bottomLine({ mode, filter, message }: Watched, look: Look): string {
  const { room, paint, cut, marks } = look;
  if (mode.kind === "filter") return `${cutTo(`/${screenText(filter.text)}`, room - 1, marks.cut)}_`;
  if (mode.kind === "confirm") return paint("yellow", question(mode.name, look));
  if (message === undefined || message.text === "") return paint("dim", keysLine(mode.kind, room));
  const text = cut(screenText(message.text));
  return message.isError ? paint("red", text) : text;
}

/** However long the name is, its end is to be seen. */
function question(name: string, { room, marks }: Look): string {
  const end = "? (y/N)";
  const shown = cutTo(screenText(name), room - "Kill ".length - end.length, marks.cut);
  return cutTo(`Kill ${shown}${end}`, room, marks.cut);
}
