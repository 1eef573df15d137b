import { harmlessLine } from "./harmless.js";

/** How the rows of a table are laid out. */
export interface TableOptions {
  /** Columns of the terminal; without it nothing is cut. */
  width?: number | undefined;
  /** The column that gives way when the terminal is too narrow, and which end of it is kept. */
  elastic: number;
  keep: "start" | "end";
  /** Columns of numbers. */
  right?: number[];
}

const GAP = "  ";
const LEAST_CHARS = 10;

/** Rows as lines, each column as wide as its widest cell. */
export function tableLines(cells: string[][], { width, elastic, keep, right = [] }: TableOptions): string[] {
  const rows = cells.map((row) => row.map(harmlessLine));
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0),
  );
  const taken = widths.reduce((sum, chars) => sum + chars + GAP.length, -GAP.length);
  const over = Math.max(0, taken - (width ?? Number.POSITIVE_INFINITY));
  const room = Math.max((widths[elastic] ?? 0) - over, LEAST_CHARS);
  widths[elastic] = Math.min(widths[elastic] ?? 0, room);
  const cell = (text: string, column: number): string => {
    const shown = column === elastic ? cut(text, room, keep) : text;
    return right.includes(column) ? shown.padStart(widths[column] ?? 0) : shown.padEnd(widths[column] ?? 0);
  };
  return rows.map((row) => row.map(cell).join(GAP).trimEnd());
}

function cut(text: string, chars: number, keep: TableOptions["keep"]): string {
  if (text.length <= chars) return text;
  return keep === "start" ? `${text.slice(0, chars - 1)}…` : `…${text.slice(1 - chars)}`;
}
