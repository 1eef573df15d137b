/** What may stand around the tag on its line: emphasis, code, quotes, tags, a full stop. */
const AROUND = /^(?:[\s*_`~"'>#-]|<\/?[\w-]+>)+|(?:[\s*_`~"'.!]|<\/?[\w-]+>)+$/g;

/** Whether a final message says that the work is done: the tag alone on a line, or as a promise. */
export function saysTag(message: string, tag: string): boolean {
  if (promises(message).some((promise) => promise.trim() === tag)) return true;
  return message.split("\n").some((line) => line.trim() === tag || line.replace(AROUND, "") === tag);
}

function promises(message: string): string[] {
  return [...message.matchAll(/<promise>([\s\S]*?)<\/promise>/gi)].map(([, text]) => text ?? "");
}
