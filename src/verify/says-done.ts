import { compact } from "./compact.js";

/** How many characters have to be the same to be taken for the prompt's. */
const ENOUGH = 12;
/** Fewer than these are the same by chance, where a text begins or ends in the middle of an echo. */
const FEW = 4;

/** A match by its place in a text without frames. */
interface Said {
  kept: string;
  start: number;
  end: number;
}

/**
 * Whether the pattern matches somewhere in a plain text that is not an echo of the prompt,
 * be it wrapped, indented, boxed, quoted or cut off.
 */
export function saysDone(text: string, pattern: RegExp, prompt: string): boolean {
  const asked = compact(prompt).kept;
  if (asked === "") return text.search(pattern) >= 0;
  const { kept, keptBefore } = compact(text);
  const isEcho = echoOf(asked);
  for (const match of text.matchAll(new RegExp(pattern.source, `${pattern.flags}g`))) {
    const end = match.index + match[0].length;
    if (!isEcho({ kept, start: keptBefore(match.index), end: keptBefore(end) })) return true;
  }
  return false;
}

function echoOf(asked: string): (said: Said) => boolean {
  const known = new Map<string, boolean>();
  const isAsked = (words: string): boolean => {
    const found = known.get(words) ?? asked.includes(words);
    known.set(words, found);
    return found;
  };
  return (said) => {
    const { kept, start, end } = said;
    const words = kept.slice(Math.max(0, start - ENOUGH), Math.min(end, start + ENOUGH));
    if (start >= ENOUGH && isAsked(words)) return true;
    return isQuoted(isAsked, said) || beginsPrompt(asked, said) || isCutOff(asked, said);
  };
}

/** A match in the middle of the prompt's words, though other words led up to them. */
function isQuoted(isAsked: (words: string) => boolean, { kept, start, end }: Said): boolean {
  if (start < FEW || end + ENOUGH > kept.length) return false;
  return isAsked(kept.slice(start - FEW, end + ENOUGH));
}

/** A match so near to the prompt's beginning that what follows has to be the same, too. */
function beginsPrompt(asked: string, said: Said): boolean {
  for (let ahead = 0; ahead < ENOUGH && ahead <= said.start; ahead += 1) {
    if (isSame(asked, 0, said, said.start - ahead)) return true;
  }
  return false;
}

/** A match so near to the text's beginning that the echo may have begun before it. */
function isCutOff(asked: string, said: Said): boolean {
  const { kept, start, end } = said;
  if (start >= ENOUGH || end === 0) return false;
  const words = kept.slice(0, end);
  for (let at = asked.indexOf(words); at >= 0; at = asked.indexOf(words, at + 1)) {
    if (isSame(asked, at, said, 0)) return true;
  }
  return false;
}

/** Whether a text, from there to some characters after the match, is what stands at a place of the prompt. */
function isSame(asked: string, at: number, { kept, start, end }: Said, from: number): boolean {
  const words = kept.slice(from, Math.min(end + ENOUGH, from + asked.length - at));
  if (from + words.length < end || !asked.startsWith(words, at)) return false;
  const isWhole = words.length === asked.length;
  return isWhole || words.length - (end - start) >= FEW;
}
