import { harmlessLine } from "./harmless.js";
import { cut, pad, widthOf } from "./layout.js";

/** How the rows of a table are laid out. */
export interface TableOptions {
  /** Columns of the terminal; without it nothing is cut. */
  width?: number | undefined;
  /** The column that gives way when the terminal is too narrow: the last one unless said otherwise. */
  elastic?: number;
  /** Columns of numbers. */
  right?: number[];
  /** What stands for the rest of a cell that is cut. */
  mark?: string;
  /** Colours a cell that has its width already. */
  paint?(cell: string, row: number, column: number): string;
}

const GAP = "  ";
const LEAST_COLUMNS = 10;

/** Rows as lines, each column as wide as its widest cell. */
export function tableLines(cells: string[][], options: TableOptions): string[] {
  const rows = cells.map((row) => row.map(harmlessLine));
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? "")), 0),
  );
  const { width = Number.POSITIVE_INFINITY, elastic = widths.length - 1, right = [], mark } = options;
  const taken = widths.reduce((sum, columns) => sum + columns + GAP.length, -GAP.length);
  const natural = widths[elastic] ?? 0;
  widths[elastic] = Math.min(natural, Math.max(natural - Math.max(0, taken - width), LEAST_COLUMNS));
  return rows.map((row, index) =>
    row
      .map((text, column) => {
        const columns = widths[column] ?? 0;
        const cell = pad(cut(text, columns, mark), columns, right.includes(column) ? "left" : "right");
        return options.paint?.(cell, index, column) ?? cell;
      })
      .join(GAP)
      .trimEnd(),
  );
}
