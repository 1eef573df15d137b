import type { Look } from "./ready.js";

/** The last line is a shell's prompt with nothing after it. */
export const shell: Look = (lines) => (isPrompt(lines.at(-1) ?? "") ? { state: "ready" } : undefined);

/** `host% `, `$ `, `>>> `: one word, or a sign that stands alone. */
const ONE_WORD = /^\S*[$#%>❯➜]$/;
const SIGN_ALONE = /[\s\])}][$#%>❯➜λ]$/;
/** `me@host ~/project (main)# `: the sign belongs to a place. */
const AFTER_A_PLACE = /^(?:[[(].*|.*[@~/\\].*)[$#%>]$/;
/** `➜  project git:(main) ✗ `: the sign comes first. */
const SIGN_FIRST = /^➜\s+\S+(?: git:\(\S+\))?(?: ✗)?$/;

/** A share, a price, a bar of progress, a tag, an arrow, an address. */
const NO_PROMPT =
  /(?:^|[\s([=:])[\d.,]+\s?%$|(?:^|\s)[\d.,]+\s?\$$|[#=\-.<]>$|##$|<[^<>]*>$|^[│┃╭╰─]|[,;]\s*\S$|:\/\//;

function isPrompt(line: string): boolean {
  if (SIGN_FIRST.test(line)) return true;
  if (line.length > 200 || NO_PROMPT.test(line)) return false;
  return [ONE_WORD, SIGN_ALONE, AFTER_A_PLACE].some((prompt) => prompt.test(line));
}
