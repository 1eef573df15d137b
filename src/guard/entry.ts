/** What a table says about a name; `constructor` is no entry of it. */
export function entryOf<T>(table: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
