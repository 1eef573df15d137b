import truncate from "cli-truncate";
import widthOf from "string-width";
import wrapWords from "wrap-ansi";
import { harmlessLine } from "./harmless.js";

/** Columns of a terminal: the width of a text, and how to fit it into less room. */
export { widthOf };

/** Cuts a text to that many columns; the mark replaces the rest. */
export function cut(text: string, columns: number, mark = "…"): string {
  if (widthOf(text) <= columns) return text;
  const room = columns - mark.length;
  if (room < 1) return mark.slice(0, Math.max(columns, 0));
  const kept = truncate(text, room, { truncationCharacter: "" });
  // A wide character whose second half does not fit is kept by the library.
  const fitting = widthOf(kept) <= room ? kept : truncate(text, room - 1, { truncationCharacter: "" });
  return `${fitting.trimEnd()}${mark}`;
}

export function pad(text: string, columns: number, side: "left" | "right" = "right"): string {
  const space = " ".repeat(Math.max(columns - widthOf(text), 0));
  return side === "right" ? `${text}${space}` : `${space}${text}`;
}

/** Breaks between words. A word that is longer than a line stays whole, so that it can be copied. */
export function wrap(text: string, columns: number): string[] {
  return wrapWords(text.trim().replace(/\s+/g, " "), columns).split("\n");
}

/** A line of any text in lines that fit: long words are broken, spaces stay where they are. */
export function broken(line: string, columns: number): string[] {
  const text = line.replaceAll("\t", TAB).trimEnd();
  return widthOf(text) <= columns
    ? [text]
    : wrapWords(text, columns, { hard: true, trim: false }).split("\n");
}

const TAB = "    ";
const LEAST_COLUMNS = 20;

/** A text after its label; the rest is indented below. */
export function hanging(start: string, text: string, columns: number): string[] {
  const indent = " ".repeat(widthOf(start));
  const lines = wrap(text, Math.max(columns - indent.length, LEAST_COLUMNS));
  return lines.map((line, index) => `${index === 0 ? start : indent}${line}`);
}

const MAX_CHARS = 2000;

export function screenText(text: string): string {
  return harmlessLine(text.slice(0, MAX_CHARS)).trim();
}

export interface TableOptions {
  width?: number | undefined;
  /** The column to shorten if the terminal is too narrow (default: the last one). */
  elastic?: number;
  right?: number[];
  /** Replaces the rest of a cell that is cut. */
  mark?: string;
  /** Colours a cell that has its width already. */
  paint?(cell: string, row: number, column: number): string;
}

const GAP = "  ";
const LEAST_CELL = 10;

/** Rows as lines, each column as wide as its widest cell. */
export function tableLines(cells: string[][], options: TableOptions): string[] {
  const rows = cells.map((row) => row.map(harmlessLine));
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? "")), 0),
  );
  const { width = Number.POSITIVE_INFINITY, elastic = widths.length - 1, right = [], mark } = options;
  const taken = widths.reduce((sum, columns) => sum + columns + GAP.length, -GAP.length);
  const natural = widths[elastic] ?? 0;
  widths[elastic] = Math.min(natural, Math.max(natural - Math.max(0, taken - width), LEAST_CELL));
  shrink(widths, width);
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

/** Takes columns from the widest cells until the line fits. */
function shrink(widths: number[], width: number): void {
  let excess = widths.reduce((sum, columns) => sum + columns + GAP.length, -GAP.length) - width;
  for (; excess > 0; excess -= 1) {
    const widest = Math.max(...widths);
    if (widest === 0) return;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
}
