import { createHash } from "node:crypto";
import { blanked, Code, depthOf, mask } from "./code.js";
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
  const code = new Code(masked, language.indented);
  dropDead(code, language);
  const aboveOf = ({ start }: Unit): number => startOfAbove(text, masked, start, language.above);
  const headOf = (unit: Unit): string => plain.slice(aboveOf(unit), unit.body);
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
    const above = aboveOf(test);
    const does = `${plain.slice(above, start)} ${plain.slice(start, end).replace(name, "")}`;
    return {
      name,
      line: text.slice(0, start).split("\n").length,
      text: [...around.map((group) => group.name), text.slice(above, end)].join("\n"),
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

/** Blanks what is never run, what fails unseen and what holds in any case. */
function dropDead(code: Code, { never, handlers, dropped, trivial, empty }: Language): void {
  for (const at of code.endsOf(never))
    code.blank(at, code.opens(at) ? code.endOf(at) : code.statementEnd(at));
  for (const at of handlers ? code.endsOf(/\btry\s*(?=[{⦃])/g) : [])
    if (isSwallowed(code, code.endOf(at), handlers)) code.blank(at, code.endOf(at));
  for (const { index } of code.matches(dropped)) code.blank(code.statementStart(index), index);
  dropUnreached(code);
  for (const { 0: piece, index } of code.matches(trivial)) code.blank(index, index + piece.length);
  for (const { 0: call, index } of code.matches(empty?.call)) {
    const end = code.endOf(index + call.length);
    const inside = code.text.slice(index + call.length + 1, end - 1);
    if (empty?.isEmpty(inside, code.text.slice(end))) code.blank(index, end);
  }
}

/** Blanks what stands behind a `return` in its block. */
function dropUnreached(code: Code): void {
  // The next case of a `switch` is run all the same.
  const isCase = (at: number) => /^[^\w$.{](?:case\b|default\s*:)/.test(code.text.slice(at, at + 12));
  for (const { index } of code.matches(/(?<![\w$.])return\b(?!\s*:)/g)) {
    if (code.text[index] !== "r" || code.isConditional(index)) continue;
    const end = code.statementEnd(index + "return".length);
    code.blank(end, code.firstAt(end, isCase));
  }
}

/** Whether a handler behind the block takes failures of assertions, and nobody sees them. */
function isSwallowed(code: Code, from: number, handlers: Language["handlers"]): boolean {
  const [head] = handlers?.head.exec(code.text.slice(from)) ?? [];
  if (handlers === undefined || head === undefined) return false;
  const end = code.endOf(from + head.length);
  if (handlers.takes.test(head)) return !handlers.tells.test(code.text.slice(from + head.length, end));
  return isSwallowed(code, end, handlers);
}

/** Functions and classes: the name is the first group of the pattern, and the body follows. */
function unitsIn(code: Code, pattern: RegExp | undefined): Unit[] {
  return code.matches(pattern).flatMap((match) => {
    const from = match.index + match[0].length;
    const behind = code.text[from] === "(" ? code.endOf(from) : from;
    const body = code.firstAt(
      behind,
      (at) => /[{⦃]/.test(code.text[at] ?? "") || code.endsStatement(behind, at),
    );
    const isBlock = code.opens(body);
    // An arrow without a block ends with its statement.
    if (!isBlock && !code.text.slice(from, body).includes("=>")) return [];
    const end = isBlock ? code.endOf(body) : body;
    return [{ name: match[1] ?? "", start: match.index, body: isBlock ? body : behind, end }];
  });
}

/** Tests and groups that are calls with a title, such as `test("title", () => { … })`. */
function callsIn(text: string, code: Code, pattern: RegExp): TestUnits {
  const found: TestUnits = { tests: [], groups: [], skips: [] };
  for (const { 0: whole, 1: word = "", 2: modifiers = "", index: start } of code.matches(pattern)) {
    const open = start + whole.length;
    const first = code.text[open] === "`" ? code.text.indexOf("`", open + 1) + 1 : code.endOf(open);
    // `it.each(table)(title, test)` has its title behind the table.
    const isTable = /\.(?:each|for|skipIf|runIf)$/.test(modifiers);
    const titleAt = isTable ? code.firstAt(first, (at) => code.text[at] === "(") : open;
    const end = code.endOf(titleAt);
    const call = code.text.slice(titleAt, end);
    const name = titleIn(text.slice(titleAt, end), call);
    if (name === undefined) continue;
    const [callback] = /[\s\S]*?(?:=>|\bfunction\b[^{]*)\s*(?=\{)/.exec(call) ?? [""];
    const isGroup = /describe|suite|context/.test(`${word}${modifiers}`);
    found[isGroup ? "groups" : "tests"].push({ name, start, body: titleAt + callback.length, end });
    const why = skippedByCall(`${word}${modifiers}`, code.text.slice(open, first), call);
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
  code: Code,
  { tests, groups }: TestUnits,
  why: Skipped,
  { skips: { [why]: patterns = {} } }: Language,
  headOf: (unit: Unit) => string,
): SkippedPart[] {
  const { above, body, scope } = patterns;
  const groupAt = (index: number) => groups.findLast(({ start, end }) => start < index && end > index);
  return [
    ...[...tests, ...groups].filter((unit) => above?.test(headOf(unit))),
    ...tests.filter((test) => body !== undefined && alwaysRuns(code, test, body)),
    ...code.endsOf(scope).map((index) => groupAt(index) ?? { start: 0, end: code.text.length }),
  ].map(({ start, end }) => ({ start, end, why }));
}

/** Whether it is among the statements that are always run: under a condition a skip may have its reasons. */
function alwaysRuns(code: Code, { body, end }: Unit, pattern: RegExp): boolean {
  const blocks = code.opens(body) ? code.matches(/[{⦃]/g) : [];
  const always = blocks
    .filter(({ index }) => index > body && index < end)
    .reduce((left, { index }) => blanked(left, index, code.endOf(index)), code.text);
  return [...always.slice(0, end).matchAll(pattern)].some(
    ({ index }) => index >= body && !code.isConditional(index),
  );
}

/** Tells whether a unit asserts, by itself or by a function that does. */
function assertionsIn(text: string, code: Code, language: Language): (unit: Unit) => boolean {
  // A function within a test counts where it is used; methods may be called from anywhere.
  const locals = language.functions.flatMap((pattern) => unitsIn(code, pattern));
  const functions = [...locals, ...unitsIn(code, language.methods)];
  const known = new Set(functions.map(({ name }) => name));
  const brought = language.imports ? [...text.matchAll(language.imports)] : [];
  const imported = brought.flatMap(([, list = ""]) => list.split(/[{},]/));
  const asserting = new Set(imported.flatMap((name) => /[\w$]+(?=\s*$)/.exec(name) ?? []));
  const asserts = (unit: Unit): boolean => {
    const inner = locals.filter(({ start, end }) => start >= unit.body && end <= unit.end);
    const left = inner.reduce((before, { start, end }) => blanked(before, start, end), code.text);
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
