/** A regular expression of Python's while it is read. */
export interface Reading {
  source: string;
  /** Where the reading stands in the source. */
  at: number;
  flags: Set<string>;
  /** How many groups have begun. */
  groups: number;
}

/** The character that comes next, whole even where it takes two units; "" at the end. */
export function nextChar({ source, at }: Reading): string {
  const code = source.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** What comes next if it looks so, which is then behind us. */
export function take(reading: Reading, start: RegExp): RegExpExecArray | null {
  const found = start.exec(reading.source.slice(reading.at));
  reading.at += found?.[0].length ?? 0;
  return found;
}
