/** The words of a text. */
export function list(text: string): string[] {
  return text
    .replaceAll("\n", " ")
    .split(" ")
    .filter((word) => word !== "");
}

export interface Names {
  has(name: string): boolean;
}

/** The words of a text, to look a name up. Nothing is made of the text: that would delay every call of the hook. */
export function namesIn(text: string): Names {
  return { has: (name) => findWord(name, text) !== -1 };
}

/** The words after a name, in a table whose lines each begin with one. */
export function rowOf(table: string, name: string): string[] | undefined {
  let at = findWord(name, table);
  while (at !== -1 && table.slice(table.lastIndexOf("\n", at) + 1, at).trim() !== "")
    at = findWord(name, table, at + 1);
  if (at === -1) return undefined;
  return list(table.slice(at + name.length, table.indexOf("\n", at)));
}

/**
 * Whether words begin with what a table says of a program. `+` stands between two words of one entry; a program with no
 * entry fits in any case.
 */
export function beginsAs(table: string, program: string, words: string[]): boolean {
  const row = rowOf(table, program);
  if (row === undefined) return false;
  const text = `${words.join(" ")} `;
  return row.length === 0 || row.some((entry) => text.startsWith(`${entry.replaceAll("+", " ")} `));
}

/** Where a word stands in a text, or -1. */
function findWord(word: string, text: string, from = 0): number {
  if (word === "" || word.includes(" ") || word.includes("\n")) return -1;
  let at = text.indexOf(word, from);
  while (at !== -1 && !(isGap(text, at - 1) && isGap(text, at + word.length)))
    at = text.indexOf(word, at + 1);
  return at;
}

/** A space, the end of a line, or the end of the text. */
function isGap(text: string, at: number): boolean {
  return !(text.charCodeAt(at) > 32);
}
