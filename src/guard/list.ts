/** The words of a text. */
export function list(text: string): string[] {
  return text.trim().split(/\s+/);
}
