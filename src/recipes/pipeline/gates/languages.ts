import { createHash } from "node:crypto";

/** How tests are written in a language. All patterns but `literals` and `above` see code whose strings are blank. */
interface Language {
  files: RegExp;
  /** Comments, strings that are comments, and other strings. */
  literals: RegExp;
  /** Where a test begins; `name` is a group unless the test is a call with a title. */
  tests: RegExp;
  groups?: RegExp;
  functions: RegExp;
  /** Where the head of each of them ends. */
  body: RegExp;
  /** A line above a test that belongs to it. */
  above: RegExp;
  asserts: RegExp;
  /** Assertions that hold whatever the code does. */
  trivial?: RegExp;
  /** Tested against the head of a test and of its groups: it is skipped, or its failure does not count. */
  skipped: RegExp;
  skipsFirst?: RegExp;
  skipsFile?: RegExp;
}

const JAVASCRIPT: Language = {
  files: /\.[cm]?[jt]sx?$/,
  // A regular expression stands where a value may begin.
  literals:
    /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|`(?:[^`\\]|\\[\s\S])*`|(?<=[(,=:[!&|?{};]\s*|\breturn\s+)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g,
  tests: /(?<![\w.$]|function\s)(?:t\.)?x?(?:test|it)(?:\.(?!describe)\w+)*\s*(?:`[^`]*`\s*)?(?=\()/g,
  groups:
    /(?<![\w.$]|function\s)(?:t\.)?(?:test\.)?x?(?:describe|suite|context)(?:\.\w+)*\s*(?:`[^`]*`\s*)?(?=\()/g,
  functions:
    /\bfunction\s*\*?\s*(?<name>[\w$]+)\s*(?=\()|\b(?:const|let|var)\s+(?<arrow>[\w$]+)\s*=\s*(?:async\s*)?(?=\(|function\b|[\w$]+\s*=>)/g,
  body: /=>|\bfunction\b/,
  above: /^\s*(?:\/\/|\/?\*)/,
  asserts:
    /\b_?(?:assert|expect|should|check|verify|ensure|must)\w*\s*[.(]|(?<![.\w$])(?:ok|match|throws|rejects|(?:not)?(?:deep|strict|deepStrict)?[eE]qual)\s*\(|\bt\.(?:is|not|ok|equals?|same|true|false|truthy|falsy|like|deepEqual|throws|throwsAsync|pass|fail|assert|snapshot|regex)\b|\.should\b|\bthrow\b|\bdone\s*\(\s*[^\s)]|\bdone\.fail\b/,
  trivial:
    /\bexpect\(\s*(?:true|1|!0)\s*\)\.\w+\(\s*(?:true|1)?\s*\)|\bassert(?:\.\w+)?\(\s*(true|1|!0)\s*(?:,\s*\1\s*)?(?:,[^)]*)?\)/g,
  skipped:
    /^\s*(?:t\.)?(?:test\.)?x(?:test|it|describe)|\.(?:skip|todo|fixme)\b|\{[^{}]*\b(?:skip|todo)\s*:(?!\s*(?:false|undefined|null)\b)|\.(?:failing|fails|fail)\b/m,
  skipsFirst: /^(?:t|ctx|context|this|test|it)\.(?:skip|todo|fixme)\(/,
};

const PYTHON: Language = {
  files: /\.py$/,
  literals:
    /(?<comment>#[^\n]*|(?<=:[ \t]*\n\s*)(?:"""[\s\S]*?"""|'''[\s\S]*?'''))|"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/g,
  tests: /^[ \t]*(?:async[ \t]+)?def[ \t]+(?<name>test\w*)[ \t]*(?=\()/gm,
  groups: /^[ \t]*class[ \t]+(?<name>\w+)/gm,
  functions: /^[ \t]*(?:async[ \t]+)?def[ \t]+(?<name>\w+)[ \t]*(?=\()/gm,
  body: /:[ \t]*$/m,
  above: /^\s*[@#]/,
  asserts:
    /\bassert\b|\bpytest\.fail\b|\b(?:raises|warns)\s*\(|\.assert_\w+|\braise\s+AssertionError\b|(?<!\w)_*(?:check|verify|expect|ensure|assert|fail)\w*\s*\(/,
  trivial:
    /\bassert[ \t]+(?:True|1|1[ \t]*==[ \t]*1)[ \t]*(?:,[^\n]*)?(?=\n|$)|\bself\.assertTrue\(\s*True\s*\)/g,
  // With a condition it may have its reasons.
  skipped:
    /^\s*@(?:\w+\.)*(?:skip\b|expectedFailure\b|xfail\b(?!\s*\((?!\s*(?:\)|True\b|(?:reason|strict|raises|run)\s*=))))/m,
  skipsFirst: /^(?:pytest\.skip\(|self\.skipTest\(|raise (?:unittest\.)?SkipTest\b)/,
  skipsFile: /^pytestmark[ \t]*=[^\n]*(?:\n[ \t\]][^\n]*)*?\bmark\.skip\b|^pytest\.skip\(/m,
};

const RUST: Language = {
  files: /\.rs$/,
  literals:
    /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|r#"[\s\S]*?"#|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\\n]|\\[^\n]{1,8})'/g,
  tests: /#\[(?:\w+::)?test\b[^\]]*\][\s\S]*?\bfn\s+(?<name>\w+)/g,
  functions: /\bfn\s+(?<name>\w+)/g,
  body: /\{/,
  above: /^\s*(?:\/\/|#\[)/,
  asserts:
    /\b\w*assert\w*!|\bpanic!|should_panic|\.unwrap_err\(|\.expect_err\(|->\s*[\w:]*Result\b[\s\S]*\?\s*[;.,)}]|\b(?:check|verify|assert)\w*\(/,
  trivial: /\bassert(?:_eq)?!\(\s*(?:true|1\s*,\s*1)\s*(?:,[^)]*)?\)/g,
  skipped: /#\[ignore\b/,
};

const GO: Language = {
  files: /\.go$/,
  literals:
    /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[^\n]{1,8})'|`[^`]*`/g,
  tests: /^func\s+(?<name>Test(?!Main\b)\w+)\s*(?=\()/gm,
  functions: /^func\s+(?:\([^)]*\)\s*)?(?<name>\w+)/gm,
  body: /\{/,
  above: /^\s*\/\//,
  asserts:
    /\bt\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|qt)\.\w+\(|\b(?:check|verify|assert|must)\w*\(/i,
  skipped: /(?!)/,
  skipsFirst: /^t\.Skip(?:f|Now)?\(/,
};

export const LANGUAGES = { javascript: JAVASCRIPT, python: PYTHON, rust: RUST, go: GO } satisfies Record<
  string,
  Language
>;

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
