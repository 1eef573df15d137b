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

/** The candidate that was most likely meant, if one is near enough. */
export function nearest(word: string, candidates: string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(2, word.length / 3) ? best.candidate : undefined;
}

/** The same as a hint. */
export function didYouMean(word: string, candidates: string[]): string | undefined {
  const meant = nearest(word, candidates);
  return meant && `did you mean ${meant}?`;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
