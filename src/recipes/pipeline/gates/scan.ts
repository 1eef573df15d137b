import { createHash } from "node:crypto";
import {
  blank,
  blanked,
  bracketed,
  closingOf,
  depthOf,
  endsStatement,
  firstAt,
  isConditional,
  mask,
  opens,
  statementEnd,
  statementStart,
} from "./code.js";
import type { Language, Skipped } from "./languages.js";

/** One test in a file. */
export interface TestBlock {
  name: string;
  /** From 1 on. */
  line: number;
  /** All of it as it is written, with the titles of the groups around it and the comments above it. */
  text: string;
  asserts: boolean;
  skipped: Skipped | false;
  /** The fingerprint of what it does: neither its name nor its comments. */
  print: string;
}

/** A test, a group of tests or a function: where it begins and ends in the code. */
interface Unit {
  name: string;
  start: number;
  /** Where its body begins. */
  body: number;
  end: number;
}

/** A part of the code whose tests prove nothing. */
type SkippedPart = Pick<Unit, "start" | "end"> & { why: Skipped };

interface TestUnits {
  tests: Unit[];
  groups: Unit[];
  skips: SkippedPart[];
}

/** The tests that a text holds. */
export function testsIn(text: string, language: Language): TestBlock[] {
  const { plain, masked } = mask(text, language.literals);
  const code = living(language.indented ? bracketed(masked) : masked, language);
  const added = language.indented ? endsOf(code, /[⦃⦄]/g) : [];
  const written = (at: number): number => at - added.filter((mark) => mark <= at).length;
  const aboveOf = ({ start }: Unit): number => startOfAbove(text, masked, written(start), language.above);
  const headOf = (unit: Unit): string => plain.slice(aboveOf(unit), written(unit.body));
  const found = language.calls
    ? callsIn(text, code, language.calls)
    : { tests: unitsIn(code, language.tests), groups: unitsIn(code, language.groups), skips: [] };
  const skips = [
    ...found.skips,
    ...skipsIn(code, found, "skipped", language, headOf),
    ...skipsIn(code, found, "expected to fail", language, headOf),
  ];
  const asserts = assertionsIn(text, code, language);
  return found.tests.map((test) => {
    const { name, start, end } = test;
    const around = found.groups.filter((group) => group.start < start && group.end >= end);
    const skipped = skips.find((skip) => skip.start <= start && skip.end >= end)?.why ?? false;
    const isAsserting = asserts(test);
    const [above, from, to] = [aboveOf(test), written(start), written(end)];
    const does = `${plain.slice(above, from)} ${plain.slice(from, to).replace(name, "")}`;
    return {
      name,
      line: text.slice(0, from).split("\n").length,
      text: [...around.map((group) => group.name), text.slice(above, to)].join("\n"),
      asserts: isAsserting,
      skipped,
      print: printOf(`${skipped} ${isAsserting} ${does}`),
    };
  });
}

/** The fingerprint of a text: blanks and ends of lines are no work. */
export function printOf(text: string): string {
  return createHash("sha256").update(text.replace(/\s+/g, " ").trim()).digest("hex").slice(0, 16);
}

/** The code without what is never run, what fails unseen and what holds in any case. */
function living(code: string, { never, handlers, dropped, trivial, empty }: Language): string {
  let left = withoutDead(code, never);
  for (const at of handlers ? endsOf(code, /\btry\s*:?\s*(?=[{⦃])/g) : [])
    if (isSwallowed(code, closingOf(code, at), handlers)) left = blanked(left, at, closingOf(code, at));
  for (const { index } of left.matchAll(dropped ?? NOTHING))
    left = blanked(left, statementStart(left, index), index);
  left = withoutUnreached(left).replace(trivial ?? NOTHING, blank);
  for (const { 0: call, index } of left.matchAll(empty?.call ?? NOTHING)) {
    const end = closingOf(left, index + call.length);
    const inside = left.slice(index + call.length + 1, end - 1);
    if (empty?.isEmpty(inside, left.slice(end))) left = blanked(left, index, end);
  }
  return left;
}

const NOTHING = /(?!)/g;

/** Without the blocks and statements behind heads that are never true. */
function withoutDead(code: string, never: RegExp): string {
  let left = code;
  for (const at of endsOf(code, never)) {
    const isDead = left[at - 1] !== code[at - 1] || left[at] !== code[at];
    const end = opens(code, at) ? closingOf : statementEnd;
    if (!isDead) left = blanked(left, at, end(code, at));
  }
  return left;
}

/** Without what stands behind a `return` in its block. */
function withoutUnreached(code: string): string {
  let left = code;
  for (const { index } of code.matchAll(/(?<![\w$.])return\b(?!\s*:)/g)) {
    if (left[index] !== "r" || isConditional(left, index)) continue;
    const end = statementEnd(left, index + "return".length);
    // The next case of a `switch` is run all the same.
    const isCase = (at: number): boolean => /^[^\w$.{](?:case\b|default\s*:)/.test(left.slice(at, at + 12));
    left = blanked(left, end, firstAt(left, end, isCase));
  }
  return left;
}

/** Where the matches end. */
function endsOf(code: string, pattern: RegExp): number[] {
  return [...code.matchAll(pattern)].map((match) => match.index + match[0].length);
}

/** Whether a handler behind the block takes failures of assertions, and nobody sees them. */
function isSwallowed(code: string, from: number, handlers: Language["handlers"]): boolean {
  const [head] = handlers?.head.exec(code.slice(from)) ?? [];
  if (handlers === undefined || head === undefined) return false;
  const end = closingOf(code, from + head.length);
  if (handlers.takes.test(head)) return !handlers.tells.test(code.slice(from + head.length, end));
  return isSwallowed(code, end, handlers);
}

/** Functions and classes: the name is the first group of the pattern, and the body follows. */
function unitsIn(code: string, pattern = NOTHING): Unit[] {
  return [...code.matchAll(pattern)].flatMap((match) => {
    const from = match.index + match[0].length;
    const behind = code[from] === "(" ? closingOf(code, from) : from;
    const body = firstAt(
      code,
      behind,
      (at) => "{⦃".includes(code[at] ?? "") || endsStatement(code, behind, at),
    );
    const isBlock = opens(code, body);
    // An arrow without a block ends with its statement.
    if (!isBlock && !code.slice(from, body).includes("=>")) return [];
    const end = isBlock ? closingOf(code, body) : body;
    return [{ name: match[1] ?? "", start: match.index, body: isBlock ? body : behind, end }];
  });
}

/** Tests and groups that are calls with a title, such as `test("title", () => { … })`. */
function callsIn(text: string, code: string, pattern: RegExp): TestUnits {
  const found: TestUnits = { tests: [], groups: [], skips: [] };
  for (const { 0: whole, 1: word = "", 2: modifiers = "", index: start } of code.matchAll(pattern)) {
    const open = start + whole.length;
    const first = code[open] === "`" ? code.indexOf("`", open + 1) + 1 : closingOf(code, open);
    // `it.each(table)(title, test)` has its title behind the table.
    const isTable = /\.(?:each|for|skipIf|runIf)$/.test(modifiers);
    const titleAt = isTable ? firstAt(code, first, (at) => code[at] === "(") : open;
    const end = closingOf(code, titleAt);
    const call = code.slice(titleAt, end);
    const name = titleIn(text.slice(titleAt, end), call);
    if (name === undefined) continue;
    const [callback] = /[\s\S]*?(?:=>|\bfunction\b[^{]*)\s*(?=\{)/.exec(call) ?? [""];
    const isGroup = /describe|suite|context/.test(`${word}${modifiers}`);
    found[isGroup ? "groups" : "tests"].push({ name, start, body: titleAt + callback.length, end });
    const why = skippedByCall(`${word}${modifiers}`, code.slice(open, first), call);
    if (why) found.skips.push({ start, end, why });
  }
  return found;
}

/** A title need not be a text, as in a loop over cases; then a function tells that it is a test. */
function titleIn(text: string, code: string): string | undefined {
  const quotedTitle = /^\(\s*(["'`])([\s\S]*?)\1/.exec(text)?.[2];
  if (quotedTitle !== undefined || !/=>|\bfunction\b/.test(code)) return quotedTitle;
  return /^\(\s*([^,(]*)/.exec(text)?.[1]?.trim();
}

function skippedByCall(word: string, table: string, call: string): Skipped | undefined {
  if (/\.(?:failing|fails|fail)\b/.test(word)) return "expected to fail";
  const isOff =
    /^x|\.(?:skip|todo|fixme)\b/.test(word) ||
    (/\.skipIf$/.test(word) && /^\(\s*(?:true|1)\s*\)/.test(table)) ||
    (/\.runIf$/.test(word) && /^\(\s*(?:false|0)\s*\)/.test(table)) ||
    // A table without a row.
    (/\.(?:each|for)$/.test(word) && /^\(\s*\[\s*\]/.test(table)) ||
    /^\([^{(=]*\{[^{}]*\b(?:skip|todo)\s*:(?!\s*(?:false|undefined|null)\b)/.test(call);
  return isOff ? "skipped" : undefined;
}

/** What the table says of skips: above a unit, in the body of a test, and in a group or the file around it. */
function skipsIn(
  code: string,
  { tests, groups }: TestUnits,
  why: Skipped,
  { skips: { [why]: patterns = {} } }: Language,
  headOf: (unit: Unit) => string,
): SkippedPart[] {
  const { above = NOTHING, body = NOTHING, scope = NOTHING } = patterns;
  const groupAt = (index: number) => groups.findLast(({ start, end }) => start < index && end > index);
  return [
    ...[...tests, ...groups].filter((unit) => above.test(headOf(unit))),
    ...tests.filter((test) => alwaysRuns(code, test, body)),
    ...endsOf(code, scope).map((index) => groupAt(index) ?? { start: 0, end: code.length }),
  ].map(({ start, end }) => ({ start, end, why }));
}

/** Whether it is among the statements that are always run: under a condition a skip may have its reasons. */
function alwaysRuns(code: string, { body, end }: Unit, pattern: RegExp): boolean {
  const always = opens(code, body) ? withoutBlocks(code.slice(body + 1, end)) : code.slice(body, end);
  return [...always.matchAll(pattern)].some(({ index }) => !isConditional(always, index));
}

function withoutBlocks(code: string): string {
  let left = code;
  for (const { index } of code.matchAll(/[{⦃]/g))
    if (left[index] !== " ") left = blanked(left, index, closingOf(left, index));
  return left;
}

/** Tells whether a unit asserts, by itself or by a function that does. */
function assertionsIn(text: string, code: string, language: Language): (unit: Unit) => boolean {
  // A function within a test counts where it is used; methods may be called from anywhere.
  const locals = language.functions.flatMap((pattern) => unitsIn(code, pattern));
  const functions = [...locals, ...unitsIn(code, language.methods)];
  const known = new Set(functions.map(({ name }) => name));
  const imported = [...text.matchAll(language.imports ?? NOTHING)].flatMap(([, list = ""]) =>
    list.split(/[{},]/),
  );
  const asserting = new Set(imported.flatMap((name) => /[\w$]+(?=\s*$)/.exec(name) ?? []));
  const asserts = (unit: Unit): boolean => {
    const inner = locals.filter(({ start, end }) => start > unit.start && end < unit.end);
    const left = inner.reduce((before, { start, end }) => blanked(before, start, end), code);
    const own = left.slice(unit.start, unit.end);
    return (
      language.asserts.test(own) ||
      // A function of this file is looked into; of others the name has to do.
      [...own.matchAll(language.named)].some(([, name = ""]) => !known.has(name)) ||
      (own.match(/[\w$#]+/g) ?? []).some((word) => asserting.has(word))
    );
  };
  for (let size = -1; size !== asserting.size; ) {
    size = asserting.size;
    for (const one of functions) if (!asserting.has(one.name) && asserts(one)) asserting.add(one.name);
  }
  return asserts;
}

/** Where the comments and attributes directly above an index begin; attributes may go over several lines. */
function startOfAbove(text: string, masked: string, index: number, pattern: RegExp): number {
  let start = masked.lastIndexOf("\n", index - 1) + 1;
  let depth = 0;
  for (let from = start; from > 0; ) {
    from = text.slice(0, from - 1).lastIndexOf("\n") + 1;
    depth -= depthOf(masked.slice(from, text.indexOf("\n", from)));
    if (depth <= 0 && !pattern.test(text.slice(from, text.indexOf("\n", from)))) break;
    if (depth <= 0) start = from;
  }
  return start;
}
