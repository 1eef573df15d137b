/** The words of a text. */
export function list(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** The same, to look a name up: for many names that is quicker than a pattern, which has to be compiled first. */
export function namesIn(text: string): Set<string> {
  return new Set(list(text));
}
