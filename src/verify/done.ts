/** Whether a final message says that the work is done: with the tag itself, or with a promise. */
export function saysTag(message: string, tag: string): boolean {
  if (saysPromise(message, tag)) return true;
  const text = ownProse(message);
  for (let start = text.indexOf(tag); start >= 0; start = text.indexOf(tag, start + 1))
    if (counts(text, start, start + tag.length, AFTER_WORD)) return true;
  return false;
}

export function saysPromise(message: string, tag: string): boolean {
  return saidInTags(message, "promise").includes(tag);
}

/** The first response that counts decides. */
export function isCompletionResponse(message: string, expected: string): boolean {
  const [response] = saidInTags(message, "response");
  return response?.toLowerCase() === expected.trim().toLowerCase();
}

// Without `^` and `$`, V8 matches in the middle of a surrogate pair.
const START = "^(?<![\\s\\S])";
const END = "$(?![\\s\\S])";

/**
 * A done pattern: a JavaScript regular expression, with Python's `(?i)`, `(?P<name>…)`, `(?P=name)`, `\A` and
 * `\Z`. `^` and `$` match at line ends. Throws an Error that explains an invalid pattern.
 */
export function donePattern(source: string): RegExp {
  const [leading = "", own = ""] = /^\(\?([ims]+)\)/.exec(source) ?? [];
  const flags = [...new Set(`m${own}`)].join("");
  const pattern = source
    .slice(leading.length)
    // An unanchored `.*` is tried at every character of a long line, in quadratic time.
    .replace(/^(?=\.[*+](?!\?))/, own.includes("s") ? START : "^")
    .replace(/\\A|\\[Zz]|\(\?P<|\(\?P=(\w+)\)|\\[\s\S]/g, (found, name?: string) => {
      if (name !== undefined) return `\\k<${name}>`;
      return { "\\A": START, "\\Z": END, "\\z": END, "(?P<": "(?<" }[found] ?? found;
    });
  // `u` forbids braces and escapes without a meaning.
  let failure: unknown;
  for (const all of [`${flags}u`, flags])
    try {
      return new RegExp(pattern, all);
    } catch (error) {
      failure = error;
    }
  // The engine puts the changed pattern before its reason.
  const { message } = failure as Error;
  throw new Error(message.slice(message.lastIndexOf(": ") + 2).toLowerCase(), { cause: failure });
}

/** List bullets, headings, emphasis, backticks, check marks and tags: what may surround words that count. */
const AROUND =
  "(?:[*_`\\ufeff\\ufe0f✅✔✓☑🎉]|[-+] |#+ |\\d+[.)] |\\[[xX]\\] |<(response|promise)>[^<]*</\\1>|</?(?!(?:promise|q|s|del|strike|pre|blockquote)\\b)[\\w-]+>|SPACE)*";
const ON_LINE = AROUND.replace("SPACE", "[^\\S\\n]");
const BEFORE = new RegExp(`^${ON_LINE}$`, "u");

const AFTER_WORD = endsAfter("");
/** The end of a sentence may follow a tag, but a bare word with a full stop belongs to a sentence. */
const AFTER_TAG = endsAfter("[.!]*");

function endsAfter(sign: string) {
  return {
    line: new RegExp(`^${sign}${ON_LINE}(?=\n|$)`, "u"),
    message: new RegExp(`^${sign}${AROUND.replace("SPACE", "\\s")}$`, "u"),
  };
}

/** The text in tags of this name, where it counts. */
function saidInTags(message: string, name: "response" | "promise"): string[] {
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

const FENCE = /^\s*(?:(?:[-*+]|\d+[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})/;
const HTML_CODE = /^\s*<(pre|code)\b[^>]*>\s*(?:<code\b[^>]*>)?\s*$/i;
const QUOTE = /^\s*(?:(?:[-*+]|\d+[.)])\s+)*>/;

/** The message without code blocks and quotes; an unclosed code block reaches to the end. */
function ownProse(message: string): string {
  let isEnd: ((line: string) => boolean) | undefined;
  const prose = message.split("\n").map((line) => {
    if (isEnd !== undefined) {
      if (isEnd(line)) isEnd = undefined;
      return "";
    }
    const fence = FENCE.exec(line)?.[1];
    const tag = HTML_CODE.exec(line)?.[1]?.toLowerCase();
    if (fence !== undefined)
      isEnd = (other) => {
        const mark = FENCE.exec(other)?.[1] ?? "";
        return mark.startsWith(fence) && other.trim() === mark;
      };
    if (tag !== undefined) isEnd = (other) => other.toLowerCase().includes(`</${tag}>`);
    return isEnd !== undefined || QUOTE.test(line) ? "" : line;
  });
  return prose.join("\n");
}

/** How much of a line and its neighbours to examine. */
const MAX_BEFORE = 200;
const MAX_NEAR = 2000;

/** Whether words are alone on their lines, or end the message after a complete sentence. */
function counts(text: string, start: number, end: number, ends: typeof AFTER_TAG): boolean {
  const near = text.slice(Math.max(0, start - MAX_BEFORE), start);
  const before = near.slice(near.lastIndexOf("\n") + 1);
  const after = text.slice(end);
  if (before.length < MAX_BEFORE && BEFORE.test(before))
    return ends.line.test(after) && !goesOn(text, start - before.length, end);
  if (!ends.message.test(after)) return false;
  const words = before.replace(/[*_`]{1,9}$/, "");
  if (/["'“”„‟‘’‚«»‹›「」『』]$/.test(words)) return false;
  const sentence = words.trimEnd().replace(/[*_`]{1,9}$/, "");
  const isCode = /`[*_]*$/.test(before);
  // After an unfinished sentence, code is a quotation: `the tag is <code>`.
  if ((ends === AFTER_WORD || isCode) && !/[.!?…。！？]$/.test(sentence)) return false;
  if (ends === AFTER_WORD) return words !== words.trimEnd();
  return /\p{L}/u.test(sentence) && !/[,([❌✗✘✖]$/u.test(sentence) && !isSpokenOf(sentence);
}

/** After one of these words, a sentence mentions the tag. */
const SPEAKS_OF =
  /(?:\b(?:say|says|said|saying|(?:answer|reply|respond|print|output|emit|return|echo)(?:s|ed|ing)?|replies|replied|writ(?:e|es|ing|ten)|wrote|sen[dt]|tell|told|type|with|as|be|been|was|were|of|to|an?|the|by|for|from|like|or|not|never|no|yet|without|until|unless|before|when|if|than|about|word|tag|my|your|its|this|that|whether|will|would|can|cannot|could|should|must|may|might)|n['’]t)$/i;
const CONDITION = /\b(?:once|when|whenever|as soon as|after|until|unless|if|then|later)\b/i;
const INTENTION = /\b(?:I|we)(?:['’](?:ll|d)| (?:will|would|shall|can|am going to|are going to))\b/i;

/** Whether the sentence announces what follows: `Once it passes, I'll answer:` */
function isSpokenOf(before: string): boolean {
  const sentence = before.slice(before.search(/[^.!?…\n]*$/));
  return SPEAKS_OF.test(before) || (CONDITION.test(sentence) && INTENTION.test(sentence));
}

/** Whether lines continue the sentence or quotation of their neighbours. */
function goesOn(text: string, start: number, end: number): boolean {
  const lineEnd = text.indexOf("\n", end);
  const before = text.slice(Math.max(0, start - MAX_NEAR), Math.max(0, start - 1));
  const after = lineEnd < 0 ? "" : text.slice(lineEnd + 1, lineEnd + MAX_NEAR);
  const paragraph = before.split(/\n\s*\n/).at(-1) ?? "";
  if (/:\s*$/.test(before) && isSpokenOf(before.trimEnd())) return true;
  if (SPEAKS_OF.test(paragraph) && /^\s*\p{Ll}/u.test(after)) return true;
  const [rest = ""] = after.split(/\n\s*\n/, 1);
  const isOpen =
    paragraph.split('"').length % 2 === 0 || paragraph.lastIndexOf("“") > paragraph.lastIndexOf("”");
  return isOpen && /["”]/.test(rest);
}

/** White space, frames, the marks of a quotation or of an input line. */
const BEFORE_LINE = /^[\s\u2500-\u259f|>❯›»]+/;
const AFTER_LINE = /[\s\u2500-\u259f|]/;
/** A line that speaks of a tag, in contrast to one that is the tag. */
const SPEAKS_OF_TAG = /\S\s*<(response|promise)>|<\/(response|promise)>\s*\S/i;
/** Fewer lines in a row can be the same by chance. */
const COPIED_LINES = 3;

/** A plain command may print its prompt back, whole, quoted or in part: those words are not its own. */
export function withoutEcho(output: string, prompt: string): string {
  const asked = prompt.split("\n").map(plain).filter(Boolean);
  const speaking = asked.filter((line) => SPEAKS_OF_TAG.test(line));
  const length = Math.min(COPIED_LINES, asked.length);
  const known = new Set(runsOf(asked, length));
  const lines = output.split("\n");
  const said = lines.map((line, index) => ({ line: plain(line), index })).filter(({ line }) => line !== "");
  const runs = runsOf(
    said.map(({ line }) => line),
    length,
  );
  const copied = runs.flatMap((run, at) => (known.has(run) ? said.slice(at, at + length) : []));
  const left = new Set(copied.map(({ index }) => index));
  return lines
    .filter((line, index) => !left.has(index) && !speaking.some((echo) => line.includes(echo)))
    .join("\n");
}

function runsOf(lines: string[], length: number): string[] {
  if (length === 0) return [];
  return lines.slice(length - 1).map((_, at) => lines.slice(at, at + length).join("\n"));
}

/** Without indentation, frames and the marks of a quotation; a line without a word, such as a fence, is blank. */
function plain(line: string): string {
  const from = BEFORE_LINE.exec(line)?.[0].length ?? 0;
  let end = line.length;
  while (end > from && AFTER_LINE.test(line[end - 1] ?? "")) end -= 1;
  const text = line.slice(from, end);
  return /[\p{L}\p{N}]/u.test(text) ? text : "";
}

/** How many characters have to be the same to be taken for the prompt's. */
const ENOUGH = 12;
/** Fewer than these are the same by chance, where a text begins or ends in the middle of an echo. */
const FEW = 4;

/**
 * Whether the pattern matches somewhere in a plain text that is not an echo of the prompt,
 * be it wrapped, indented, boxed, quoted or cut off.
 */
export function saysDone(text: string, pattern: RegExp, prompt: string): boolean {
  const asked = compact(prompt).kept;
  if (asked === "") return text.search(pattern) >= 0;
  const { kept, keptBefore } = compact(text);
  const isEcho = echoes(asked, kept);
  for (const { index, 0: words } of text.matchAll(new RegExp(pattern.source, `${pattern.flags}g`)))
    if (!isEcho(keptBefore(index), keptBefore(index + words.length))) return true;
  return false;
}

/** Tells which characters of a text are the prompt's, where both are without frames. */
function echoes(asked: string, kept: string): (start: number, end: number) => boolean {
  const known = new Map<string, boolean>();
  const isAsked = (words: string): boolean => {
    const found = known.get(words) ?? asked.includes(words);
    known.set(words, found);
    return found;
  };
  /** Whether the text, from there to some characters after the match, is what stands at an index of the prompt. */
  const isSame = (at: number, from: number, start: number, end: number): boolean => {
    const words = kept.slice(from, Math.min(end + ENOUGH, from + asked.length - at));
    if (from + words.length < end || !asked.startsWith(words, at)) return false;
    return words.length === asked.length || words.length - (end - start) >= FEW;
  };
  const isAtBeginning = (start: number, end: number): boolean => {
    // It is so near to the prompt's beginning that what follows has to be the same, too.
    for (let from = start; from >= 0 && from > start - ENOUGH; from -= 1)
      if (isSame(0, from, start, end)) return true;
    // It is so near to the text's beginning that the echo may have begun before it.
    if (start >= ENOUGH || end === 0) return false;
    const words = kept.slice(0, end);
    for (let at = asked.indexOf(words); at >= 0; at = asked.indexOf(words, at + 1))
      if (isSame(at, 0, start, end)) return true;
    return false;
  };
  return (start, end) =>
    // The words that lead up to it are the prompt's.
    (start >= ENOUGH && isAsked(kept.slice(start - ENOUGH, Math.min(end, start + ENOUGH)))) ||
    // It is in the middle of the prompt's words, though other words led up to them.
    (start >= FEW && end + ENOUGH <= kept.length && isAsked(kept.slice(start - FEW, end + ENOUGH))) ||
    isAtBeginning(start, end);
}

/** White space, frames, the marks of a quotation or of an input line, emphasis. */
const LEFT_OUT = /[\s\u2500-\u259f|>❯›»▎▏●•*`]/;
const LINE_NUMBER = /^[ \t]*\d+[ \t]*[→\t│|]/;
/** What stands beside the words, in a column of its own. */
const SIDE_COLUMN = /(?<=\S) {6,}\S/;

/** A text without what a terminal or a quotation puts around its words. */
function compact(text: string) {
  const counts = new Uint32Array(text.length + 1);
  const kept: string[] = [];
  let at = 0;
  for (const line of text.split("\n")) {
    const first = LINE_NUMBER.exec(line)?.[0].length ?? 0;
    const end = SIDE_COLUMN.exec(line)?.index ?? line.length;
    for (let column = 0; column <= line.length && at <= text.length; column += 1, at += 1) {
      counts[at] = kept.length;
      const char = line[column];
      if (char !== undefined && column >= first && column < end && !LEFT_OUT.test(char)) kept.push(char);
    }
  }
  return {
    kept: kept.join(""),
    /** How many characters are kept of those before an index of the text. */
    keptBefore: (index: number): number => counts[Math.min(index, text.length)] ?? 0,
  };
}
