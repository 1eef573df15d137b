/** What may stand around the tag on its line: emphasis, backticks, tags. */
const AROUND = "(?:[\\s*_`]|</?(?!promise\\b)[\\w-]+>)*";

/** Whether a final message says that the work is done: the tag alone on a line, or as a promise. */
export function saysTag(message: string, tag: string): boolean {
  if (promises(message).some((promise) => promise.trim() === tag)) return true;
  const alone = new RegExp(`^${AROUND}${escaped(tag)}${AROUND}$`);
  return message.split("\n").some((line) => line.includes(tag) && alone.test(line));
}

export function promises(message: string): string[] {
  return message
    .split(/<promise>/i)
    .slice(1)
    .map((text) => text.slice(0, Math.max(0, text.search(/<\/promise>/i))));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
