/** Where a text stops being JSON. */
export interface JsonMistake {
  line: number;
  column: number;
  /** What stands there. */
  found: string;
}

/** For a text that `JSON.parse` refused: it tells what is wrong, and only sometimes where. */
export function findJsonMistake(text: string): JsonMistake {
  return mistakeAt(text, mistakeOffset(text));
}

export function mistakeAt(text: string, offset: number): JsonMistake {
  const before = text.slice(0, offset).split("\n");
  const found = /^(?:[\w.+-]+|[\s\S])/u.exec(text.slice(offset))?.[0] ?? "end of file";
  return { line: before.length, column: (before.at(-1) ?? "").length + 1, found };
}

const SPACE = /[ \t\r\n]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them inside strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

/** Reads as far as the text is JSON. */
function mistakeOffset(text: string): number {
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const isThere = pattern.test(text);
    if (isThere) at = pattern.lastIndex;
    return isThere;
  };
  const next = (pattern: RegExp): boolean => take(SPACE) && take(pattern);
  const value = (): boolean => {
    if (next(STRING) || take(SCALAR)) return true;
    if (take(/\{/y)) return items(/\}/y, () => next(STRING) && next(/:/y) && value());
    return take(/\[/y) && items(/\]/y, value);
  };
  const items = (end: RegExp, item: () => boolean): boolean => {
    if (next(end)) return true;
    do if (!item()) return false;
    while (next(/,/y));
    return take(end);
  };
  if (value()) take(SPACE);
  return at;
}
