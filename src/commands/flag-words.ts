/** A flag as commander hands it over, as words of a command line again. */
export function flagWords(flag: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => flagWords(flag, one));
  if (typeof value === "boolean") return [value ? asFlag(flag) : `--no-${asFlag(flag).slice(2)}`];
  return [`${asFlag(flag)}=${String(value)}`];
}

/** `maxCost` is `--max-cost`. */
export function asFlag(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
