import { assertsWith, type Definition } from "./asserting.js";
import { livingBraces } from "./living.js";
import { blank, closingOf, lineAt, maskedBraces, uncommentedBraces } from "./masked.js";
import { linesAbove, printOf, type TestBlock } from "./test-block.js";

const CALL = /(?<![\w.$]|function\s)(?:t\.)?(x?(?:test|it|describe|suite|context))((?:\.\w+)*)\s*(?=[(`])/g;

interface Call {
  isGroup: boolean;
  start: number;
  end: number;
  title: string;
  skipped: TestBlock["skipped"];
}

/** Tests of node:test, vitest, jest, mocha and their like. */
export function javascriptTests(text: string): TestBlock[] {
  const code = livingBraces(maskedBraces(text), TOLD).replace(TRIVIAL, blank);
  const calls = callsIn(text, code);
  const own = importedAssertions(text);
  const known = assertsWith(definitionsIn(code), { sure: SURE, named: NAMED });
  const asserts = (body: string): boolean => known(body) || own?.test(body) === true;
  const file = { text, plain: uncommentedBraces(text), code, isSkipped: FILE_SKIPPED.test(code) };
  return calls.filter(({ isGroup }) => !isGroup).map((call) => blockOf(call, calls, file, asserts));
}

/** What a handler of failures has to do, so that somebody is told. */
const TOLD = /\b(?:throw|done|fail\w*|reject\w*)\b|\b(?:assert|expect|should)\w*|\bt\.\w+\(/;

const FILE_SKIPPED =
  /^(?:test|it)\.(?:skip|fixme)\(\s*(?:\)|true\b|1\b)|\bbefore(?:Each|All)?\s*\(\s*(?:async\s*)?(?:function\s*\w*\([^)]*\)|\([^)]*\)\s*=>|\w+\s*=>)\s*\{\s*(?:this|t|ctx|context)\.skip\(/m;

const DEFINITIONS = [
  /\bfunction\s*\*?\s*([\w$]+)\s*(?=\()/g,
  /\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:function\b[^(]*)?(?=\()/g,
  /^[ \t]*(?:(?:async|static|private|public|protected)\s+)*(?!if\b|for\b|while\b|switch\b|catch\b|function\b|return\b|test\b|it\b|describe\b)([\w$#]+)\s*(?=\([^()]*\)\s*(?::[^{;]*)?\{)/gm,
];

/** Functions with a name; an arrow without a block ends with its line. */
function definitionsIn(code: string): Definition[] {
  return DEFINITIONS.flatMap((pattern) =>
    [...code.matchAll(pattern)].flatMap((match) => {
      const parameters = closingOf(code, match.index + match[0].length) ?? code.length;
      const head = /^[^{;\n]*?(?:=>\s*)?(?=\{)/.exec(code.slice(parameters, parameters + 200));
      const open = parameters + (head?.[0].length ?? 0);
      const end = head === null ? code.indexOf("\n", parameters) : closingOf(code, open);
      return [{ name: match[1] ?? "", body: code.slice(open, end === -1 ? undefined : end) }];
    }),
  );
}

const IMPORT =
  /\b(?:import|const|let|var)\s+([\w\s{},:$*]{1,2000}?)\s*(?:from\s*|=\s*require\(\s*)["'](?:node:)?assert(?:\/strict)?["']/g;

/** `equal(` and the like, where they come from node:assert, under whatever name. */
function importedAssertions(text: string): RegExp | undefined {
  const names = [...text.matchAll(IMPORT)].flatMap(([, list = ""]) =>
    list.split(/[{},]/).flatMap((name) => /([\w$]+)\s*$/.exec(name)?.[1] ?? []),
  );
  const escaped = names.map((name) => name.replaceAll("$", "\\$"));
  return names.length === 0 ? undefined : new RegExp(`(?<![\\w.$])(?:${escaped.join("|")})\\s*[.(]`);
}

interface Source {
  text: string;
  /** Without comments. */
  plain: string;
  /** Without comments and texts, and without what is never run. */
  code: string;
  isSkipped: boolean;
}

function blockOf(
  { start, end, title, skipped }: Call,
  calls: Call[],
  { text, plain, code, isSkipped: isFileSkipped }: Source,
  asserts: (body: string) => boolean,
): TestBlock {
  const around = calls.filter((other) => other.isGroup && other.start < start && other.end >= end);
  const above = linesAbove(text, start, /^\s*(?:\/\/|\/?\*)/);
  const why = skipped || around.map((group) => group.skipped).find(Boolean) || (isFileSkipped && "skipped");
  const isAsserting = asserts(code.slice(start, end));
  return {
    name: title,
    line: lineAt(text, start),
    text: [...around.map((group) => group.title), above, text.slice(start, end)].join("\n"),
    asserts: isAsserting,
    skipped: why,
    print: printOf(`${why} ${isAsserting} ${plain.slice(start, end).replace(title, "")}`),
  };
}

const SURE =
  /\b(?:assert|expect|should)\s*[.(]|\b(?:strictEqual|deepEqual|deepStrictEqual|notEqual|rejects|throws)\s*[.(]|\bt\.(?:is|not|ok|equals?|same|true|false|truthy|falsy|like|deepEqual|throws|throwsAsync|pass|fail|assert|snapshot|regex)\b|\.should\b|\bthrow\b|\bdone\s*\(\s*[^\s)]|\bdone\.fail\b/;
const NAMED = /(?<![\w$])(_?(?:check|verify|ensure|must|assert|expect|should)\w*)\s*[.(]/g;

/** True is true, whatever the code does. */
const TRIVIAL =
  /\bexpect\(\s*(?:true|1|!0)\s*\)(?:\.\w+\(\s*(?:true|1)?\s*\)|(?!\s*\.))|\bassert(?:\.\w+)?\(\s*(true|1|!0)\s*(?:,\s*\1\s*)?(?:,[^)]*)?\)/g;

function callsIn(text: string, code: string): Call[] {
  return [...code.matchAll(CALL)].flatMap((match) => {
    const [whole, word = "", modifiers = ""] = match;
    const open = match.index + whole.length;
    const isTemplate = code[open] === "`";
    const first = isTemplate ? code.indexOf("`", open + 1) + 1 : closingOf(code, open);
    // `it.each(table)(title, test)` has its title behind the table.
    const isTable = /\.(?:each|for|skipIf|runIf)$/.test(modifiers);
    const titleAt = isTable && first !== undefined ? code.indexOf("(", first) : open;
    const end = isTable && titleAt >= 0 ? closingOf(code, titleAt) : first;
    if (end === undefined || titleAt < 0 || (isTemplate && !isTable)) return [];
    const title = titleOf(text.slice(titleAt, end), code.slice(titleAt, end));
    if (title === undefined) return [];
    return [
      {
        isGroup: /describe|suite|context/.test(`${word}${modifiers}`),
        start: match.index,
        end,
        title,
        skipped: skippedBy(word, modifiers, code.slice(open, end), code.slice(titleAt, end)),
      },
    ];
  });
}

/** A title need not be a text, as in a loop over cases; then a function tells that it is a test. */
function titleOf(text: string, code: string): string | undefined {
  const quoted = /^\(\s*(["'`])([\s\S]*?)\1/.exec(text)?.[2];
  if (quoted !== undefined || !/=>|\bfunction\b/.test(code)) return quoted;
  return /^\(\s*([^,(]*)/.exec(text)?.[1]?.trim();
}

function skippedBy(word: string, modifiers: string, table: string, code: string): TestBlock["skipped"] {
  if (/\.(?:failing|fails|fail)\b/.test(modifiers)) return "expected to fail";
  if (word.startsWith("x") || /\.(?:skip|todo|fixme)\b/.test(modifiers)) return "skipped";
  if (/\.skipIf$/.test(modifiers) && /^\(\s*(?:true|1)\s*\)/.test(table)) return "skipped";
  if (/\.runIf$/.test(modifiers) && /^\(\s*(?:false|0)\s*\)/.test(table)) return "skipped";
  const isTest = /(?:test|it)$/.test(word) && !/describe/.test(modifiers);
  return (SKIPPING.test(code) || (isTest && SKIPS_ITSELF.test(code))) && "skipped";
}

const SKIPPING = /^\([^{(=]*\{[^{}]*\b(?:skip|todo)\s*:(?!\s*(?:false|undefined|null)\b)/;

/** Under a condition it may have its reasons. */
const SKIPS_ITSELF =
  /(?<!\bif\s*\([^\n]*\)\s*\{?\s*)\b(?:(?:t|ctx|context|this)\.(?:skip|todo)\(|(?:test|it)\.(?:skip|fixme)\(\s*(?:\)|true\b|["'`]))/;
