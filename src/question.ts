import type { Question } from "./events.js";

/** On a line of its own, or on several: one inside a sentence is spoken of, and not made. */
const PROMISE =
  /^[ \t]*[*_]{0,2}<promise>\s*(BLOCKED|DECIDE)\s*:((?:(?!<\/?promise>)[\s\S])*)<\/promise>[*_]{0,2}[ \t\r]*$/gim;
const MAX_CHARS = 2000;

/** What an agent asks a human in its final message, the last one. Words of its prompt do not count. */
export function questionIn(message: string, prompt: string): Question | undefined {
  const asked = plain(prompt);
  const own = [...message.matchAll(PROMISE)]
    .map(([, kind = "", text = ""]) => ({ kind, text: text.trim().slice(0, MAX_CHARS).trim() }))
    .filter(({ kind, text }) => text !== "" && !asked.includes(plain(`<promise>${kind}: ${text}</promise>`)));
  const last = own.at(-1);
  if (last === undefined) return undefined;
  return { kind: last.kind.toUpperCase() === "DECIDE" ? "decide" : "blocked", text: last.text };
}

function plain(text: string): string {
  return text.toLowerCase().replace(/\s+/g, "");
}
