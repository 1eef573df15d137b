/** Text that is known only when the command runs. */
export const UNKNOWN = "\uE0FF";

export function isUnknown(text: string): boolean {
  return text.includes(UNKNOWN);
}

export function hasPattern(path: string): boolean {
  return /[*?[]/.test(path);
}

/** The words of a text. */
export function list(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** The words of a text, for looking up a name. Builds the set on first use: most hook calls need few. */
export function namesIn(text: string): { has(name: string): boolean } {
  let words: Set<string> | undefined;
  return {
    has(name) {
      words ??= new Set(list(text));
      return words.has(name);
    },
  };
}

const tables = new Map<string, Map<string, string[][]>>();

/** The words after a name, from each line that begins with the name or with alternatives (`a|b`). */
export function rowsIn(table: string, name: string): string[][] {
  let rows = tables.get(table);
  if (rows === undefined) {
    rows = new Map();
    for (const line of table.split("\n")) {
      const [names = "", ...rest] = list(line);
      for (const one of names.split("|")) rows.set(one, [...(rows.get(one) ?? []), rest]);
    }
    tables.set(table, rows);
  }
  return name === "" ? [] : (rows.get(name) ?? []);
}

const patterns = new Map<string, RegExp>();

/** A regular expression from a table, built on first use. */
export function regex(source: string, flags = ""): RegExp {
  const key = `${flags}/${source}`;
  const made = patterns.get(key) ?? new RegExp(source, flags);
  patterns.set(key, made);
  made.lastIndex = 0;
  return made;
}
