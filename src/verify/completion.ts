import { saidInTags } from "./said.js";

/** The first response that counts decides. */
export function isCompletionResponse(message: string, expected: string): boolean {
  const [response] = saidInTags(message, "response");
  return response?.toLowerCase() === expected.trim().toLowerCase();
}

/** A line that speaks of a tag, in contrast to one that is the tag. */
const TALKS_OF_TAG = /\S\s*<(response|promise)>|<\/(response|promise)>\s*\S/i;

/** A plain command may print its prompt back, whole, quoted or in part: those words are not its own. */
export function withoutEcho(output: string, prompt: string): string {
  const echoed = textLines(prompt);
  const telling = echoed.filter((line) => TALKS_OF_TAG.test(line));
  const lines = output.split("\n");
  const copied = copiedLines(lines, echoed);
  return lines
    .filter((line, index) => !copied.has(index) && !telling.some((echo) => line.includes(echo)))
    .join("\n");
}

/** Fewer lines in a row can be the same by chance. */
const COPIED_LINES = 3;

/** Which lines of an output stand in the prompt in the same order, blank ones aside. */
function copiedLines(output: string[], echoed: string[]): Set<number> {
  const length = Math.min(COPIED_LINES, echoed.length);
  const known = new Set(runsOf(echoed, length));
  const said = output.map((line, index) => ({ line: plain(line), index })).filter(({ line }) => line !== "");
  const runs = runsOf(
    said.map(({ line }) => line),
    length,
  );
  const copied = runs.flatMap((run, at) => (known.has(run) ? said.slice(at, at + length) : []));
  return new Set(copied.map(({ index }) => index));
}

/** Every so many lines that follow each other. */
function runsOf(lines: string[], length: number): string[] {
  if (length === 0) return [];
  return lines.slice(length - 1).map((_, at) => lines.slice(at, at + length).join("\n"));
}

function textLines(text: string): string[] {
  return text
    .split("\n")
    .map(plain)
    .filter((line) => line !== "");
}

/** White space, frames, the marks of a quotation or of an input line. */
const BEFORE = /[\s\u2500-\u259f|>❯›»]/;
const AFTER = /[\s\u2500-\u259f|]/;
/** Fences and rules are the same in any text. */
const WORDS = /[\p{L}\p{N}]/u;

/** Without indentation, frames and the marks of a quotation; a line without a word is blank. */
function plain(line: string): string {
  let [start, end] = [0, line.length];
  while (start < end && BEFORE.test(line[start] ?? "")) start += 1;
  while (end > start && AFTER.test(line[end - 1] ?? "")) end -= 1;
  const text = line.slice(start, end);
  return WORDS.test(text) ? text : "";
}
