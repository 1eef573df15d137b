import { nextChar, type Reading, take } from "./reading.js";

const WORD = "\\p{L}\\p{N}_";
/** All but letters, numbers and the underscore, as members of a set. */
const NO_WORD =
  "\\p{M}\\p{Pd}\\p{Ps}\\p{Pe}\\p{Pi}\\p{Pf}\\p{Po}\\p{S}\\p{Z}\\p{C}\\u203f\\u2040\\u2054\\ufe33\\ufe34\\ufe4d-\\ufe4f\\uff3f";

const ANYWHERE: Record<string, string> = {
  a: "\\x07",
  d: "\\p{Nd}",
  D: "\\P{Nd}",
  ...Object.fromEntries([..."fnrsStv"].map((letter) => [letter, `\\${letter}`])),
};

// Without `^` and `$`, V8 finds them in the middle of a character that takes two units.
export const START = "^(?<![\\s\\S])";
const END = "$(?![\\s\\S])";

const OUTSIDE: Record<string, string> = {
  ...ANYWHERE,
  A: START,
  Z: END,
  z: END,
  w: `[${WORD}]`,
  W: `[^${WORD}]`,
  b: `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`,
  B: `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`,
};

const INSIDE: Record<string, string> = { ...ANYWHERE, w: WORD, W: NO_WORD, b: "\\x08" };

/** With the flag a, these are what they are in JavaScript. */
const ASCII = /^[dDwWbB]$/;

/** What a backslash begins outside of a set. */
export function readEscape(reading: Reading): string {
  const named = take(reading, /^\\k<[\p{L}\p{N}_]+>/u);
  if (named !== null) return named[0];
  return byNumber(reading) ?? reference(reading) ?? byLetter(reading, OUTSIDE);
}

export function readEscapeInSet(reading: Reading): string {
  return byNumber(reading) ?? byLetter(reading, INSIDE);
}

const OCTAL = /^\\(0[0-7]{0,2}|[1-3][0-7]{2})/;
const HEXADECIMAL = /^\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/;

function byNumber(reading: Reading): string | undefined {
  const octal = take(reading, OCTAL)?.[1];
  if (octal !== undefined) return character(Number.parseInt(octal, 8));
  const found = take(reading, HEXADECIMAL);
  const digits = found?.[1] ?? found?.[2] ?? found?.[3];
  return digits === undefined ? undefined : character(Number.parseInt(digits, 16));
}

function reference(reading: Reading): string | undefined {
  const found = take(reading, /^\\([1-9]\d?)/);
  if (found === null) return undefined;
  if (Number(found[1]) > reading.groups) throw new Error(`${found[0]} refers to a group that is not there`);
  return `(?:${found[0]})`;
}

function byLetter(reading: Reading, meanings: Record<string, string>): string {
  reading.at += 1;
  const char = nextChar(reading);
  if (char === "") throw new Error("a \\ at the end");
  reading.at += char.length;
  if (reading.flags.has("a") && ASCII.test(char)) return `\\${char}`;
  const meaning = meanings[char];
  if (meaning !== undefined) return meaning;
  if (/[a-z\d]/i.test(char)) throw new Error(`\\${char} means nothing in Python`);
  return character(char.codePointAt(0) as number);
}

/** A character by its number, which means itself everywhere. */
function character(code: number): string {
  if (code > 0x10ffff) throw new Error(`there is no character ${code.toString(16)}`);
  return `\\u{${code.toString(16)}}`;
}
