import { readEscape, START } from "./escapes.js";
import { readGroup } from "./groups.js";
import { nextChar, type Reading, take } from "./reading.js";
import { readSet } from "./sets.js";

export interface Translated {
  pattern: string;
  flags: string;
}

/** A regular expression of Python's `re` as one of JavaScript. Throws an Error that says what cannot be done. */
export function fromPython(source: string): Translated {
  const reading: Reading = { source, at: 0, flags: new Set(["m", "u"]), groups: 0 };
  readLeadingFlags(reading);
  let pattern = startOf(reading);
  while (reading.at < source.length) pattern += readPiece(reading);
  const flags = ["i", "m", "s", "u"].filter((flag) => reading.flags.has(flag)).join("");
  return { pattern, flags };
}

function readLeadingFlags(reading: Reading): void {
  const flags =
    take(reading, /^(?:\(\?[aiLmsux]+\)|\(\?#[^)]*\))*/)?.[0].replace(/\(\?#[^)]*\)|\W/g, "") ?? "";
  if (flags.includes("L")) throw new Error("the flag L is for bytes and cannot be used here");
  for (const flag of flags) reading.flags.add(flag);
}

/** Without an anchor, what begins with `.*` is tried from every place of a long line, which takes its square. */
function startOf({ source, at, flags }: Reading): string {
  if (!/^\.[*+](?!\?)/.test(source.slice(at))) return "";
  return flags.has("s") ? START : "^";
}

function readPiece(reading: Reading): string {
  const char = nextChar(reading);
  // With the flag x, white space and comments are for the reader alone.
  if (reading.flags.has("x") && take(reading, /^(?:\s|#.*)/) !== null) return "";
  if (char === "\\") return readEscape(reading);
  if (char === "[") return readSet(reading);
  if (char === "(") return readGroup(reading);
  if (/[*+?{]/.test(char)) return readQuantifier(reading);
  reading.at += char.length;
  if (char === "." && !reading.flags.has("s")) return "[^\\n]";
  return /[\]}/]/.test(char) ? `\\${char}` : char;
}

function readQuantifier(reading: Reading): string {
  const found = take(reading, /^(?:[*+?]|\{(?=[\d,])(\d*)(,?)(\d*)\})/);
  if (found === null) return `\\${take(reading, /^\{/)?.[0]}`;
  const [quantifier, least, comma, most] = found;
  if (nextChar(reading) === "+") throw new Error(`JavaScript has no possessive quantifier ${quantifier}+`);
  return comma === undefined ? quantifier : `{${least || 0}${comma}${most}}`;
}
