import { blank } from "./masked.js";

/** Masked code of Python, without what is never run and without what fails unseen. */
export function livingPython(code: string): string {
  const lines = code.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (
      /^\s*(?:if|while)\s+(?:False|0)\s*:|^\s*with\s.*\bsuppress\(.*(?:Exception|AssertionError)\b/.test(line)
    )
      blankLines(lines, at + 1, endOfBlock(lines, at));
    if (/^\s*try\s*:/.test(line) && isSwallowed(lines, endOfBlock(lines, at), indentOf(line)))
      blankLines(lines, at + 1, endOfBlock(lines, at));
    if (/^\s+return\b/.test(line)) blankLines(lines, at + 1, endOfSuite(lines, at));
  }
  return lines.join("\n");
}

const CATCHES_ASSERTIONS = /^\s*except\s*(?::|.*\b(?:Exception|BaseException|AssertionError)\b)/;
/** So that somebody is told. */
const TOLD = /\braise\b|\bassert|\bfail\w*\s*\(|\.append\(/i;

/** Whether a handler behind the block takes failures of assertions and says nothing. */
function isSwallowed(lines: string[], from: number, indent: number): boolean {
  for (let at = from; at < lines.length; ) {
    const line = lines[at] ?? "";
    if (indentOf(line) !== indent || !/^\s*except\b/.test(line)) return false;
    const end = endOfBlock(lines, at);
    if (CATCHES_ASSERTIONS.test(line))
      return !TOLD.test(
        lines
          .slice(at, end)
          .join("\n")
          .replace(/^\s*except[^:]*/, ""),
      );
    at = end;
  }
  return false;
}

function indentOf(line: string): number {
  return line.trim() === "" ? Number.POSITIVE_INFINITY : line.search(/\S/);
}

/** The first line behind what is indented more. */
function endOfBlock(lines: string[], at: number): number {
  return firstAfter(lines, at, (indent, own) => indent <= own);
}

/** The first line that is indented less. */
function endOfSuite(lines: string[], at: number): number {
  return firstAfter(lines, at, (indent, own) => indent < own);
}

function firstAfter(lines: string[], at: number, isBehind: (indent: number, own: number) => boolean): number {
  const own = indentOf(lines[at] ?? "");
  const end = lines.findIndex((line, index) => index > at && isBehind(indentOf(line), own));
  return end === -1 ? lines.length : end;
}

function blankLines(lines: string[], from: number, to: number): void {
  for (let at = from; at < to; at += 1) lines[at] = blank(lines[at] ?? "");
}
