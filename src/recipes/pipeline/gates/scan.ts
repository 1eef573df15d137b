import { createHash } from "node:crypto";
import type { Language } from "./languages.js";

export interface TestBlock {
  name: string;
  line: number;
  /** All of it as it is written, with the titles of the groups around it and the comments above it. */
  text: string;
  asserts: boolean;
  /** It is skipped or expected to fail: it proves nothing. */
  skipped: boolean;
  /** The fingerprint of what it does: neither its name nor its comments. */
  print: string;
}

/** The tests in a text. It finds tests that are empty, skipped or without an assertion, and does not follow the code. */
export function testsIn(text: string, language: Language): TestBlock[] {
  const { plain, masked } = mask(text, language);
  const units = (pattern: RegExp | undefined) => unitsIn(text, masked, pattern, language);
  const groups = units(language.groups);
  const code = masked.replace(language.trivial ?? /(?!)/g, blank);
  const asserting = new Set<string>();
  const asserts = ({ start, end }: Unit): boolean => {
    const own = code.slice(start, end);
    return language.asserts.test(own) || (own.match(/[\w$]+/g) ?? []).some((word) => asserting.has(word));
  };
  // A function that calls one that asserts does so, too.
  const functions = units(language.functions);
  for (let size = -1; size !== asserting.size; ) {
    size = asserting.size;
    for (const one of functions) if (!asserting.has(one.name) && asserts(one)) asserting.add(one.name);
  }
  return units(language.tests).map((test) => {
    const { name, start, above, body, end } = test;
    const around = groups.filter((group) => group.start < start && group.end >= end);
    const heads = [...around, test].map((unit) => masked.slice(unit.above, unit.body));
    const first = masked.slice(body, end).replace(/^[^{:]*[{:]\s*/, "");
    const skipped =
      heads.some((head) => language.skipped.test(head)) ||
      language.skipsFirst?.test(first) === true ||
      language.skipsFile?.test(masked) === true;
    const isAsserting = asserts(test);
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

/** `plain`: without comments. `masked`: the strings are blank, too. Every character keeps its index. */
function mask(text: string, { literals }: Language): { plain: string; masked: string } {
  const replaced = (string: (piece: string) => string): string =>
    text.replace(literals, (piece, ...rest) =>
      rest.at(-1).comment === undefined ? string(piece) : blank(piece),
    );
  return {
    plain: replaced((piece) => piece),
    masked: replaced((piece) => `${piece[0]}${blank(piece.slice(1, -1))}${piece.at(-1)}`),
  };
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

/** A test, a group of tests or a function: where it begins and ends. */
interface Unit {
  name: string;
  start: number;
  /** Where the comments and attributes above it begin. */
  above: number;
  body: number;
  end: number;
}

function unitsIn(text: string, masked: string, pattern: RegExp | undefined, language: Language): Unit[] {
  return [...masked.matchAll(pattern ?? /(?!)/g)].flatMap(({ 0: head, index, groups }) => {
    const start = index + head.search(/\S/);
    const from = index + head.length;
    const end = endOf(masked, from);
    const inside = masked.slice(from, end).search(language.body);
    // `it.each(table)(title, test)` has its title behind the table.
    const table = /\.(?:each|for)\s*$/.test(head) ? masked.slice(from, end).search(/\)\s*\(/) + 1 : 0;
    const quoted = /^\s*\(\s*(["'`])([\s\S]*?)\1/.exec(text.slice(from + table, end))?.[2];
    // A title need not be a string, as in a loop over cases; the function tells that it is a test.
    const title = quoted ?? (inside < 0 ? undefined : /^\(\s*([^,(]*)/.exec(masked.slice(from, end))?.[1]);
    const name = groups?.["name"] ?? groups?.["arrow"] ?? title?.trim();
    if (name === undefined) return [];
    const above = startOfAbove(text, masked, start, language.above);
    return [{ name, start, above, body: inside < 0 ? end : from + inside, end }];
  });
}

/** Before the next line that is not indented deeper, unless a bracket or a quotation ends there. */
function endOf(masked: string, from: number): number {
  const line = masked.slice(masked.lastIndexOf("\n", from - 1) + 1);
  const indent = line.search(/[^ \t]|$/);
  const next = masked.slice(from).search(new RegExp(`\\n(?!\\s*?(?:\\n|$)|[ \\t]{${indent}}[\\s)\\]}\`])`));
  return next < 0 ? masked.length : from + next;
}

/** Attributes may go over several lines. */
function startOfAbove(text: string, masked: string, index: number, pattern: RegExp): number {
  let start = text.lastIndexOf("\n", index - 1) + 1;
  let depth = 0;
  for (let from = start; from > 0; ) {
    const end = from - 1;
    from = text.slice(0, end).lastIndexOf("\n") + 1;
    const brackets = masked.slice(from, end).match(/[()[\]{}]/g) ?? [];
    for (const bracket of brackets) depth += ")]}".includes(bracket) ? 1 : -1;
    if (depth > 0) continue;
    if (!pattern.test(text.slice(from, end))) break;
    start = from;
  }
  return start;
}
