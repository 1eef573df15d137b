/** White space, frames, the marks of a quotation or of an input line. */
const BEFORE_LINE = /^[\s\u2500-\u259f|>❯›»]+/;
const AFTER_LINE = /[\s\u2500-\u259f|]/;
/** A line that speaks of a tag, in contrast to one that is the tag. */
const SPEAKS_OF_TAG = /\S\s*<(response|promise)>|<\/(response|promise)>\s*\S/i;
/** Fewer lines in a row can be the same by chance. */
const COPIED_LINES = 3;

/** A plain command may print its prompt back, whole, quoted or in part: those words are not its own. */
export function withoutEcho(output: string, prompt: string): string {
  const asked = prompt.split("\n").map(plain).filter(Boolean);
  const speaking = asked.filter((line) => SPEAKS_OF_TAG.test(line));
  const length = Math.min(COPIED_LINES, asked.length);
  const known = new Set(runsOf(asked, length));
  const lines = output.split("\n");
  const said = lines.map((line, index) => ({ line: plain(line), index })).filter(({ line }) => line !== "");
  const runs = runsOf(
    said.map(({ line }) => line),
    length,
  );
  const copied = runs.flatMap((run, at) => (known.has(run) ? said.slice(at, at + length) : []));
  const left = new Set(copied.map(({ index }) => index));
  return lines
    .filter((line, index) => !left.has(index) && !speaking.some((echo) => line.includes(echo)))
    .join("\n");
}

function runsOf(lines: string[], length: number): string[] {
  if (length === 0) return [];
  return lines.slice(length - 1).map((_, at) => lines.slice(at, at + length).join("\n"));
}

/** Without indentation, frames and the marks of a quotation; a line without a word, such as a fence, is blank. */
function plain(line: string): string {
  const from = BEFORE_LINE.exec(line)?.[0].length ?? 0;
  let end = line.length;
  while (end > from && AFTER_LINE.test(line[end - 1] ?? "")) end -= 1;
  const text = line.slice(from, end);
  return /[\p{L}\p{N}]/u.test(text) ? text : "";
}

/** How many characters have to be the same to be taken for the prompt's. */
const ENOUGH = 12;
/** Fewer than these are the same by chance, where a text begins or ends in the middle of an echo. */
const FEW = 4;

/**
 * Whether the pattern matches somewhere in a plain text that is not an echo of the prompt,
 * be it wrapped, indented, boxed, quoted or cut off.
 */
export function saysDone(text: string, pattern: RegExp, prompt: string): boolean {
  const asked = compact(prompt).kept;
  if (asked === "") return text.search(pattern) >= 0;
  const { kept, keptBefore } = compact(text);
  const isEcho = echoes(asked, kept);
  for (const { index, 0: words } of text.matchAll(new RegExp(pattern.source, `${pattern.flags}g`)))
    if (!isEcho(keptBefore(index), keptBefore(index + words.length))) return true;
  return false;
}

/** Tells which characters of a text are the prompt's, where both are without frames. */
function echoes(asked: string, kept: string): (start: number, end: number) => boolean {
  const known = new Map<string, boolean>();
  const isAsked = (words: string): boolean => {
    const found = known.get(words) ?? asked.includes(words);
    known.set(words, found);
    return found;
  };
  /** Whether the text, from there to some characters after the match, is what stands at an index of the prompt. */
  const isSame = (at: number, from: number, start: number, end: number): boolean => {
    const words = kept.slice(from, Math.min(end + ENOUGH, from + asked.length - at));
    if (from + words.length < end || !asked.startsWith(words, at)) return false;
    return words.length === asked.length || words.length - (end - start) >= FEW;
  };
  const isAtBeginning = (start: number, end: number): boolean => {
    // It is so near to the prompt's beginning that what follows has to be the same, too.
    for (let from = start; from >= 0 && from > start - ENOUGH; from -= 1)
      if (isSame(0, from, start, end)) return true;
    // It is so near to the text's beginning that the echo may have begun before it.
    if (start >= ENOUGH || end === 0) return false;
    const words = kept.slice(0, end);
    for (let at = asked.indexOf(words); at >= 0; at = asked.indexOf(words, at + 1))
      if (isSame(at, 0, start, end)) return true;
    return false;
  };
  return (start, end) =>
    // The words that lead up to it are the prompt's.
    (start >= ENOUGH && isAsked(kept.slice(start - ENOUGH, Math.min(end, start + ENOUGH)))) ||
    // It is in the middle of the prompt's words, though other words led up to them.
    (start >= FEW && end + ENOUGH <= kept.length && isAsked(kept.slice(start - FEW, end + ENOUGH))) ||
    isAtBeginning(start, end);
}

/** White space, frames, the marks of a quotation or of an input line, emphasis. */
const LEFT_OUT = /[\s\u2500-\u259f|>❯›»▎▏●•*`]/;
const LINE_NUMBER = /^[ \t]*\d+[ \t]*[→\t│|]/;
/** What stands beside the words, in a column of its own. */
const SIDE_COLUMN = /(?<=\S) {6,}\S/;

/** A text without what a terminal or a quotation puts around its words. */
function compact(text: string) {
  const counts = new Uint32Array(text.length + 1);
  const kept: string[] = [];
  let at = 0;
  for (const line of text.split("\n")) {
    const first = LINE_NUMBER.exec(line)?.[0].length ?? 0;
    const end = SIDE_COLUMN.exec(line)?.index ?? line.length;
    for (let column = 0; column <= line.length && at <= text.length; column += 1, at += 1) {
      counts[at] = kept.length;
      const char = line[column];
      if (char !== undefined && column >= first && column < end && !LEFT_OUT.test(char)) kept.push(char);
    }
  }
  return {
    kept: kept.join(""),
    /** How many characters are kept of those before an index of the text. */
    keptBefore: (index: number): number => counts[Math.min(index, text.length)] ?? 0,
  };
}
