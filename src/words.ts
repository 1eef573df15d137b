import { RalphError } from "./errors.js";

/** Splits a command line into words as a shell would, without expanding anything. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [piece, quoted] of pieces(line)) {
    if (!quoted && /^\s+$/.test(piece)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + piece;
    }
  }
  return word === undefined ? words : [...words, word];
}

/** A word as a shell reads it. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const PIECE = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|(\s+)|([^\s'"\\]+)/y;

function* pieces(line: string): Generator<[text: string, quoted: boolean]> {
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < line.length) {
    const at = PIECE.lastIndex;
    const match = PIECE.exec(line);
    if (match === null) {
      throw new RalphError(`cannot split into words: ${line}`, {
        code: "words_invalid",
        hint: `the quote or backslash at character ${at + 1} is never closed`,
      });
    }
    const [, single, double, escaped, space, plain] = match;
    if (single !== undefined) yield [single, true];
    else if (double !== undefined) yield [double.replace(/\\(["\\$`])/g, "$1"), true];
    else if (escaped !== undefined) yield [escaped, true];
    else yield [space ?? plain ?? "", false];
  }
}
