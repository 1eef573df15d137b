/** List bullets, headings, emphasis, backticks, ticks and tags: what may stand around words that count. */
const AROUND =
  "(?:[*_`\\ufeff\\ufe0f✅✔✓☑🎉]|[-+] |#+ |\\d+[.)] |\\[[xX]\\] |<(response|promise)>[^<]*</\\1>|</?(?!(?:promise|q|s|del|strike|pre|blockquote)\\b)[\\w-]+>|SPACE)*";
const ON_LINE = AROUND.replace("SPACE", "[^\\S\\n]");
const BEFORE = new RegExp(`^${ON_LINE}$`, "u");

interface Ends {
  line: RegExp;
  message: RegExp;
}
const AFTER_WORD = endsAfter("");
/** A tag may be followed by the end of its sentence; a bare word with a full stop is part of one. */
const AFTER_TAG = endsAfter("[.!]*");

function endsAfter(sign: string): Ends {
  return {
    line: new RegExp(`^${sign}${ON_LINE}(?=\n|$)`, "u"),
    message: new RegExp(`^${sign}${AROUND.replace("SPACE", "\\s")}$`, "u"),
  };
}

/** No more than this of a line is looked at before the words. */
const MAX_BEFORE = 200;

const FENCE = /^\s*(?:(?:[-*+]|\d+[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})/;
const QUOTE = /^\s*(?:(?:[-*+]|\d+[.)])\s+)*>/;

const QUOTATION_MARK = /["'“”„‟‘’‚«»‹›「」『』]/;
const END_OF_SENTENCE = /[.!?…。！？]/;
/** After one of these words, what follows is spoken of. */
const SPEAKS_OF =
  /(?:\b(?:say|says|said|saying|(?:answer|reply|respond|print|output|emit|return|echo)(?:s|ed|ing)?|replies|replied|writ(?:e|es|ing|ten)|wrote|sen[dt]|tell|told|type|with|as|be|been|was|were|of|to|an?|the|by|for|from|like|or|not|never|no|yet|without|until|unless|before|when|if|than|about|word|tag|my|your|its|this|that|whether|will|would|can|cannot|could|should|must|may|might)|n['’]t)$/i;

/** What an agent says in tags of this name, where it counts. */
export function saidInTags(message: string, name: "response" | "promise"): string[] {
  const text = ownProse(message);
  const lower = text.toLowerCase();
  const [open, close] = [`<${name}>`, `</${name}>`];
  const said: string[] = [];
  for (let start = lower.indexOf(open); start >= 0; ) {
    const inside = start + open.length;
    const end = lower.indexOf(close, inside);
    if (end < 0) break;
    if (counts(text, start, end + close.length, AFTER_TAG)) said.push(text.slice(inside, end).trim());
    start = lower.indexOf(open, end);
  }
  return said;
}

/** Whether an agent says a word by itself. */
export function saysAlone(message: string, word: string): boolean {
  const text = ownProse(message);
  for (let start = text.indexOf(word); start >= 0; start = text.indexOf(word, start + 1)) {
    if (counts(text, start, start + word.length, AFTER_WORD)) return true;
  }
  return false;
}

/** Without what stands in code fences and quotes; a fence that is never closed reaches to the end. */
function ownProse(message: string): string {
  let fence = "";
  return message
    .split("\n")
    .map((line) => {
      const [, mark = ""] = FENCE.exec(line) ?? [];
      const wasInside = fence !== "";
      if (!wasInside) fence = mark;
      else if (mark.startsWith(fence) && line.trim() === mark) fence = "";
      return wasInside || mark !== "" || QUOTE.test(line) ? "" : line;
    })
    .join("\n");
}

/** Whether words stand alone on their lines, or at the end of the message and after a sentence. */
function counts(text: string, start: number, end: number, ends: Ends): boolean {
  const near = text.slice(Math.max(0, start - MAX_BEFORE), start);
  const before = near.slice(near.lastIndexOf("\n") + 1);
  const after = text.slice(end);
  if (before.length < MAX_BEFORE && BEFORE.test(before))
    return ends.line.test(after) && !goesOn(text, start - before.length, end);
  return ends.message.test(after) && endsMessage(before, ends);
}

function endsMessage(before: string, ends: Ends): boolean {
  const words = before.replace(/[*_`]{1,9}$/, "");
  if (QUOTATION_MARK.test(words.slice(-1))) return false;
  const sentence = words.trimEnd().replace(/[*_`]{1,9}$/, "");
  if (ends === AFTER_WORD) return words !== words.trimEnd() && END_OF_SENTENCE.test(sentence.slice(-1));
  return /\p{L}/u.test(sentence) && !/[,([❌✗✘✖]$/u.test(sentence) && !SPEAKS_OF.test(sentence);
}

/** Whether lines are a part of the sentence, or of the quotation, that their neighbours are of. */
function goesOn(text: string, start: number, end: number): boolean {
  const lineEnd = text.indexOf("\n", end);
  const before = text.slice(Math.max(0, start - MAX_NEAR), Math.max(0, start - 1));
  const after = lineEnd < 0 ? "" : text.slice(lineEnd + 1, lineEnd + MAX_NEAR);
  const paragraph = before.split(/\n\s*\n/).at(-1) ?? "";
  if (SPEAKS_OF.test(paragraph) && /^\s*\p{Ll}/u.test(after)) return true;
  const [rest = ""] = after.split(/\n\s*\n/, 1);
  const isOpen =
    paragraph.split('"').length % 2 === 0 || paragraph.lastIndexOf("“") > paragraph.lastIndexOf("”");
  return isOpen && /["”]/.test(rest);
}

const MAX_NEAR = 2000;
