import { formatDuration } from "../../duration.js";
import type { Glance } from "../../workers/glance.js";
import { cellsOf, cutTo, padTo, screenText } from "../cells.js";
import { formatCost } from "../figures.js";

/** A table of workers and runs in that many columns of a terminal. */
export interface WatchTable {
  head: string;
  /** The cells of a row, each as wide as its column. */
  cells(row: Glance): { name: string; status: string; more: string };
}

interface Column {
  head: string;
  text(row: Glance): string;
  /** Columns that stay as wide as this, so that growing figures move nothing. */
  least: number;
}

const GAP = "  ";
const NAME = { least: 10, most: 32 };
const LAST_LINE = { head: "LAST LINE", least: 16 };

const STATUS = { head: "STATUS", least: 7 };

/** From the one that is needed most: what does not fit is left out from the end. */
const FIGURES: Column[] = [
  { head: "ITER", text: iterationOf, least: 5 },
  { head: "TIME", text: elapsedOf, least: 6 },
  { head: "COST", text: costOf, least: 5 },
];

export function watchTable(rows: Glance[], room: number, cutMark: string): WatchTable {
  const widths = widthsFor(rows, room);
  const { figures } = widths;
  const cut = (text: string, cells: number): string => padTo(cutTo(text, cells, cutMark), cells);
  const name = (text: string): string => cut(text, widths.name);
  const status = (text: string): string => afterGap(cut(text, widths.status));
  const more = (texts: string[], last: string): string =>
    texts
      .map((text, index) => padTo(text, figures[index]?.cells ?? 0, "left"))
      .concat(cut(last, widths.lastLine))
      .map(afterGap)
      .join("")
      .trimEnd();
  const heads = figures.map(({ column }) => column.head);
  return {
    head: `${name("NAME")}${status(STATUS.head)}${more(heads, LAST_LINE.head)}`.trimEnd(),
    cells: (row) => ({
      name: name(nameOf(row)),
      status: status(row.status),
      more: more(
        figures.map(({ column }) => column.text(row)),
        screenText(row.lastLine),
      ),
    }),
  };
}

function afterGap(cell: string): string {
  return cell === "" ? "" : `${GAP}${cell}`;
}

/** Columns of the terminal; 0 where there is no room. */
interface Widths {
  name: number;
  status: number;
  figures: { column: Column; cells: number }[];
  lastLine: number;
}

function widthsFor(rows: Glance[], room: number): Widths {
  const longest = widestOf("NAME", rows, nameOf);
  const least = Math.min(longest, NAME.least);
  const status = least + taken(STATUS.least) <= room ? STATUS.least : 0;
  const figures = fitting(rows, room - least - taken(status));
  const free = room - taken(status) - figures.reduce((sum, { cells }) => sum + taken(cells), 0);
  const forName = free - taken(LAST_LINE.least);
  if (forName < least) return { name: Math.min(longest, NAME.most, free), status, figures, lastLine: 0 };
  const name = Math.min(longest, NAME.most, forName);
  return { name, status, figures, lastLine: free - name - GAP.length };
}

/** What stands about one row where the table has no room for it. */
export function detailsOf(row: Glance, separator: string): string {
  const cost = costOf(row) === NOT_KNOWN ? "" : costOf(row);
  const words = [row.name, cost, row.reason ?? "", row.recipe, row.tags.join(", "), row.workspace];
  return words
    .map(screenText)
    .filter((word) => word !== "")
    .join(separator);
}

function fitting(rows: Glance[], room: number): Widths["figures"] {
  const fitted: Widths["figures"] = [];
  let left = room;
  for (const column of FIGURES) {
    const cells = Math.max(widestOf(column.head, rows, column.text), column.least);
    left -= taken(cells);
    if (left < 0) return fitted;
    fitted.push({ column, cells });
  }
  return fitted;
}

function taken(cells: number): number {
  return cells === 0 ? 0 : cells + GAP.length;
}

function widestOf(head: string, rows: Glance[], text: (row: Glance) => string): number {
  return rows.reduce((widest, row) => Math.max(widest, cellsOf(text(row))), head.length);
}

function nameOf({ name }: Glance): string {
  return screenText(name) || NOT_KNOWN;
}

const NOT_KNOWN = "-";

function iterationOf({ status, iteration, maxIterations }: Glance): string {
  if (status === "unknown" || !Number.isFinite(iteration)) return NOT_KNOWN;
  return maxIterations > 0 ? `${iteration}/${maxIterations}` : String(iteration);
}

function elapsedOf({ status, activeMs }: Glance): string {
  if (status === "unknown" || !(activeMs >= 0)) return NOT_KNOWN;
  return formatDuration(Math.floor(activeMs / 1000) * 1000).replace(".0s", "s");
}

function costOf({ costUsd }: Glance): string {
  return costUsd === null || !Number.isFinite(costUsd) ? NOT_KNOWN : formatCost(costUsd);
}
