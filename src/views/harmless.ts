import { stripVTControlCharacters } from "node:util";

/**
 * An agent's output must not control the terminal: no escape sequences, no other control characters, nothing
 * that turns the direction of the text around it.
 */
export function harmless(text: string): string {
  return stripVTControlCharacters(text).replace(STEERING, "");
}

const STEERING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function harmlessLine(text: string): string {
  return harmless(text).replace(/\s*[\n\t]\s*/g, " ");
}

/** As JSON that cannot control a terminal: also escapes the control characters that JSON leaves alone. */
export function harmlessJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f]/g,
    (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`,
  );
}

const BRIEF_CHARS = 100;

/** The beginning of the first line, for places where all of it would be too much. */
export function brief(text: string, chars = BRIEF_CHARS): string {
  const line = harmlessLine(firstLine(text));
  return line.length > chars ? `${line.slice(0, chars - 1)}…` : line;
}

export function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
