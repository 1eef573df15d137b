import { stripVTControlCharacters } from "node:util";

/** Output as it would stand on a screen: no colours, no control characters, of a line that was redrawn the last state. */
export function readable(output: string): string {
  const lines = stripVTControlCharacters(output).replace(/\r+\n/g, "\n").split("\n");
  return lines
    .map(lastState)
    .join("\n")
    .replace(/(?!\t|\n)\p{Cc}/gu, "");
}

function lastState(line: string): string {
  return line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1);
}

/** That many characters at the most, and no half of one. */
export function beginning(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return text.slice(0, isWithinCharacter(text, chars) ? chars - 1 : chars);
}

export function ending(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const from = text.length - chars;
  return text.slice(isWithinCharacter(text, from) ? from + 1 : from);
}

function isWithinCharacter(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text[at - 1] ?? "") && /[\udc00-\udfff]/.test(text[at] ?? "");
}

/** The first line that says something, cut where it gets long. */
export function oneLine(text: string, chars: number): string {
  const line = text.trim().split("\n", 1)[0]?.trimEnd() ?? "";
  return line.length <= chars ? line : `${beginning(line, chars - 1)}…`;
}

/** Lines of test runners, compilers and linters that name what failed. */
const NAMES_FAILURE =
  /^\s*(?:not ok\b|--- FAIL:|(?:FAILED|FAIL|ERROR|FAILURE)\b|[✗✘✕✖×●❯] |\d+\) |test .* \.\.\. FAILED|\[\s*FAILED\s*\])/;

/** The lines that name failures, in their order. */
export function failureLines(text: string): string[] {
  return readable(text)
    .split("\n")
    .filter((line) => NAMES_FAILURE.test(line));
}
