import { blanked, closingOf } from "./masked.js";

/** Masked code of a language with braces, without what is never run and without what fails unseen. */
export function livingBraces(code: string, isTold: RegExp): string {
  return withoutDead(withoutSwallowed(code, isTold));
}

/** `if (false) { … }`, and what stands behind a `return` in its block. */
function withoutDead(code: string): string {
  let living = code;
  for (const match of code.matchAll(/\bif\s*(?:\(\s*(?:false|0)\s*\)|false)\s*(?=\{)/g)) {
    const open = match.index + match[0].length;
    living = blanked(living, open + 1, (closingOf(code, open) ?? open) - 1);
  }
  for (const { index } of living.matchAll(/(?<![\w$.])return\b(?!\s*:)/g)) {
    if (living[index] !== "r" || isConditional(living, index)) continue;
    const end = statementEnd(living, index + "return".length);
    living = blanked(living, end, blockEnd(living, end));
  }
  return living;
}

/** `if (x) return`, `else return`: what follows is run when it does not hold. */
function isConditional(code: string, index: number): boolean {
  const before = code.slice(0, index).trimEnd();
  if (/\b(?:else|do)$/.test(before)) return true;
  if (!before.endsWith(")")) return false;
  const open = openingOf(before);
  return /\b(?:if|for|while|await)\s*$/.test(before.slice(0, open));
}

/** The bracket that the last character closes. */
function openingOf(code: string): number {
  let depth = 0;
  for (let at = code.length - 1; at >= 0; at -= 1) {
    if (code[at] === ")") depth += 1;
    else if (code[at] === "(") depth -= 1;
    if (depth === 0) return at;
  }
  return 0;
}

const CONTINUES = /^\s*[.?:+\-*/%&|^,<>=)\]}]/;
const IS_CONTINUED = /[=+\-*/%&|^,<>(?:.{[]\s*$/;

/** Where a statement ends that may have no semicolon. */
function statementEnd(code: string, from: number): number {
  return firstAt(code, from, (at) => {
    if (code[at] === ";") return true;
    const own = code.slice(from, at);
    if (code[at] !== "\n" || own.trim() === "") return code[at] === "\n";
    return !CONTINUES.test(code.slice(at, at + 200)) && !IS_CONTINUED.test(own);
  });
}

/** Where the block ends, or the next case of a `switch` begins. */
function blockEnd(code: string, from: number): number {
  return firstAt(code, from, (at) => /^[^\w$.](?:case\b|default\s*:)/.test(code.slice(at, at + 12)));
}

/** The first place within the same brackets that is meant, or their end. */
function firstAt(code: string, from: number, isMeant: (at: number) => boolean): number {
  let depth = 0;
  for (let at = from; at < code.length; at += 1) {
    const char = code[at] ?? "";
    if ("([{".includes(char)) depth += 1;
    else if (")]}".includes(char)) depth -= 1;
    if (depth < 0 || (depth === 0 && isMeant(at))) return at;
  }
  return code.length;
}

/** `try { … } catch { }`, `.catch(() => {})`: an assertion in it fails, and nobody is told. */
function withoutSwallowed(code: string, isTold: RegExp): string {
  let living = code;
  for (const match of code.matchAll(/\btry\s*(?=\{)/g)) {
    const open = match.index + match[0].length;
    const end = closingOf(code, open) ?? open;
    const handler = /^\s*catch\s*(?:\([^)]*\)\s*)?(?=\{)/.exec(code.slice(end));
    if (handler === null) continue;
    const handlerOpen = end + handler[0].length;
    const body = code.slice(handlerOpen, closingOf(code, handlerOpen));
    if (!isTold.test(body)) living = blanked(living, open + 1, end - 1);
  }
  for (const match of code.matchAll(/\blet\s+_\s*=\s*(?:std::)?(?:panic::)?catch_unwind\s*(?=\()/g)) {
    const open = match.index + match[0].length;
    living = blanked(living, open + 1, (closingOf(code, open) ?? open) - 1);
  }
  for (const match of living.matchAll(NOT_CAUGHT)) {
    const begin = Math.max(...[";", "{", "}"].map((char) => statementStart(living, match.index, char)));
    living = blanked(living, begin + 1, match.index);
  }
  return living;
}

const NOT_CAUGHT =
  /\.catch\(\s*(?:\(\s*\w*\s*\)|\w+|function\s*\(\s*\w*\s*\))\s*(?:=>)?\s*(?:\{\s*\}|null|undefined)\s*\)/g;

/** The last such character before the index that is not within brackets. */
function statementStart(code: string, index: number, wanted: string): number {
  let depth = 0;
  for (let at = index - 1; at >= 0; at -= 1) {
    const char = code[at] ?? "";
    if (depth === 0 && char === wanted) return at;
    if (")]}".includes(char)) depth += 1;
    else if ("([{".includes(char)) depth -= 1;
    if (depth < 0) return at;
  }
  return -1;
}
