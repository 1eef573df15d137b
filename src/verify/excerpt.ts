import { stripVTControlCharacters } from "node:util";

/** Output as it would stand on a screen: no colours, no control characters, of a line that was redrawn the last state. */
export function readable(output: string): string {
  return stripVTControlCharacters(output)
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1))
    .join("\n")
    .replace(/(?!\t|\n)\p{Cc}/gu, "");
}

/** That many characters at the most, and no half of one. */
export function beginning(text: string, chars: number): string {
  return text.length <= chars ? text : text.slice(0, isWithinCharacter(text, chars) ? chars - 1 : chars);
}

export function ending(text: string, chars: number): string {
  const from = text.length - chars;
  return from <= 0 ? text : text.slice(isWithinCharacter(text, from) ? from + 1 : from);
}

function isWithinCharacter(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text[at - 1] ?? "") && /[\udc00-\udfff]/.test(text[at] ?? "");
}

/** The first line that says something, cut where it gets long. */
export function oneLine(text: string, chars: number): string {
  const line = text.trim().split("\n", 1)[0]?.trimEnd() ?? "";
  return line.length <= chars ? line : `${beginning(line, chars - 1)}…`;
}

/** In a fence that nothing inside can close. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
