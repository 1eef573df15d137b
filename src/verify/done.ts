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
