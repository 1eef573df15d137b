/** A text without what a terminal or a quotation puts around its words. */
export interface Compact {
  kept: string;
  /** How many characters are kept of those before an index of the text. */
  keptBefore(index: number): number;
}

/** White space, frames, the marks of a quotation or of an input line, emphasis. */
const LEFT_OUT = /[\s\u2500-\u259f|>❯›»▎▏●•*`]/;
/** The number that a listing puts before a line. */
const LINE_NUMBER = /^[ \t]*\d+[ \t]*[→\t│|]/;
/** What stands beside the words, in a column of its own. */
const SIDE_COLUMN = /(?<=\S) {6,}\S/;

export function compact(text: string): Compact {
  const counts = new Uint32Array(text.length + 1);
  const kept: string[] = [];
  let at = 0;
  for (const line of text.split("\n")) {
    const first = LINE_NUMBER.exec(line)?.[0].length ?? 0;
    const end = sideColumn(line);
    for (let column = 0; column <= line.length && at <= text.length; column += 1, at += 1) {
      counts[at] = kept.length;
      const char = line[column];
      if (char !== undefined && column >= first && column < end && !LEFT_OUT.test(char)) kept.push(char);
    }
  }
  return { kept: kept.join(""), keptBefore: (index) => counts[Math.min(index, text.length)] ?? 0 };
}

function sideColumn(line: string): number {
  const found = SIDE_COLUMN.exec(line);
  return found === null ? line.length : found.index;
}
