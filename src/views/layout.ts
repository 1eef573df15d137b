import truncate from "cli-truncate";
import widthOf from "string-width";
import wrapWords from "wrap-ansi";
import { harmlessLine } from "./harmless.js";

/** Columns of a terminal: how wide a text is, and what it becomes where there is less room. */
export { widthOf };

/** Cuts a text to that many columns; the mark stands for what is left out. */
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

const MAX_CHARS = 2000;

/** Foreign text for one line of a screen: terminals agree on the width of every character that is left. */
export function screenText(text: string): string {
  return harmlessLine(text.slice(0, MAX_CHARS))
    .replace(/[\p{Zl}\p{Zp}]/gu, " ")
    .replace(/\p{Cs}/gu, "\ufffd")
    .replace(/\p{Cf}|[\ufe00-\ufe0f]/gu, "")
    .replace(/(\p{M}{2})\p{M}+/gu, "$1")
    .trim();
}
