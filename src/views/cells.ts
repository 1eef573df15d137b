import { harmlessLine } from "./harmless.js";

/** Text of somebody else for one line of a screen: every character that is left has a width that is known. */
export function screenText(text: string): string {
  return harmlessLine(text.slice(0, MAX_CHARS))
    .replace(/[\p{Zl}\p{Zp}]/gu, " ")
    .replace(/\p{Cs}/gu, "\ufffd")
    .replace(INVISIBLE, "")
    .replace(/(\p{M}{2})\p{M}+/gu, "$1")
    .trim();
}

const MAX_CHARS = 2000;

/** With what joins pictures to one: terminals do not agree on how wide that is. */
const INVISIBLE = /\p{Cf}|[\ufe00-\ufe0f]/gu;

/** How many columns of a terminal it takes. */
export function cellsOf(text: string): number {
  let cells = 0;
  for (const character of text) cells += cellsOfOne(character);
  return cells;
}

/** Cut to that many columns; what is cut off leaves its mark. */
export function cutTo(text: string, cells: number, mark = "…"): string {
  if (cellsOf(text) <= cells) return text;
  const room = cells - mark.length;
  return room <= 0 ? beginning(text, cells) : `${beginning(text, room).trimEnd()}${mark}`;
}

export function padTo(text: string, cells: number, side: "left" | "right" = "right"): string {
  const space = " ".repeat(Math.max(cells - cellsOf(text), 0));
  return side === "right" ? `${text}${space}` : `${space}${text}`;
}

function beginning(text: string, cells: number): string {
  let taken = 0;
  let kept = "";
  for (const character of text) {
    taken += cellsOfOne(character);
    if (taken > cells) break;
    kept += character;
  }
  return kept;
}

function cellsOfOne(character: string): number {
  if (character >= " " && character <= "~") return 1;
  if (WITHOUT_WIDTH.test(character)) return 0;
  return WIDE.test(character) && !FLAG_LETTER.test(character) ? 2 : 1;
}

const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff\ud7b0-\ud7ff]/u;
const FLAG_LETTER = /\p{Regional_Indicator}/u;
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18d08}\u{1aff0}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
