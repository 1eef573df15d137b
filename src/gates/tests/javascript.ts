import { closingOf, lineAt, maskedBraces } from "./masked.js";
import { linesAbove, type TestBlock } from "./test-block.js";

const CALL = /(?<![\w.$]|function\s)(?:t\.)?(x?(?:test|it|describe|suite|context))((?:\.\w+)*)\s*(?=\()/g;

interface Call {
  isGroup: boolean;
  start: number;
  end: number;
  title: string;
  skipped: boolean;
}

/** Tests of node:test, vitest, jest, mocha and their like. */
export function javascriptTests(text: string): TestBlock[] {
  const code = maskedBraces(text);
  const calls = callsIn(text, code);
  const own = importedAssertions(text);
  const asserts = (body: string): boolean => ASSERTION.test(body) || own?.test(body) === true;
  return calls.filter(({ isGroup }) => !isGroup).map((call) => blockOf(call, calls, text, code, asserts));
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

function blockOf(
  { start, end, title, skipped }: Call,
  calls: Call[],
  text: string,
  code: string,
  asserts: (body: string) => boolean,
): TestBlock {
  const around = calls.filter((other) => other.isGroup && other.start < start && other.end >= end);
  const above = linesAbove(text, start, /^\s*(?:\/\/|\/?\*)/);
  return {
    name: title,
    line: lineAt(text, start),
    text: [...around.map((group) => group.title), above, text.slice(start, end)].join("\n"),
    asserts: asserts(code.slice(start, end).replace(TRIVIAL, "")),
    skipped: skipped || around.some((group) => group.skipped),
  };
}

const ASSERTION =
  /\b(?:assert|expect|should|strictEqual|deepEqual|deepStrictEqual|notEqual|rejects|throws)\w*\s*[.(]|\bt\.(?:is|not|ok|equals?|same|true|false|truthy|falsy|like|deepEqual|throws|throwsAsync|pass|fail|assert|snapshot|regex)\b|\.should\b|\b(?:check|verify|ensure|must)\w*\s*\(/;

/** True is true, whatever the code does. */
const TRIVIAL =
  /\b(?:expect|assert(?:\.\w+)?)\(\s*(true|1|!0)\s*(?:,\s*\1\s*)?(?:,[^)]*)?\)(?:\.\w+\(\s*(?:true|1)?\s*\))?/g;

function callsIn(text: string, code: string): Call[] {
  return [...code.matchAll(CALL)].flatMap((match) => {
    const [whole, word = "", modifiers = ""] = match;
    const open = match.index + whole.length;
    const first = closingOf(code, open);
    // `it.each(table)(title, test)` has its title behind the table.
    const isTable = /\.(?:each|for|skipIf|runIf)$/.test(modifiers);
    const titleAt = isTable && first !== undefined ? code.indexOf("(", first) : open;
    const end = isTable && titleAt >= 0 ? closingOf(code, titleAt) : first;
    if (end === undefined || titleAt < 0) return [];
    const title = titleOf(text.slice(titleAt, end), code.slice(titleAt, end));
    if (title === undefined) return [];
    return [
      {
        isGroup: /describe|suite|context/.test(word),
        start: match.index,
        end,
        title,
        skipped: isSkipped(word, modifiers, code.slice(titleAt, end)),
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

function isSkipped(word: string, modifiers: string, code: string): boolean {
  if (word.startsWith("x") || /\.(?:skip|todo)\b/.test(modifiers)) return true;
  return SKIPPING.test(code) || (/(?:test|it)$/.test(word) && SKIPS_ITSELF.test(code));
}

const SKIPPING = /^\([^{(=]*\{[^{}]*\b(?:skip|todo)\s*:(?!\s*(?:false|undefined|null)\b)/;

/** Under a condition it may have its reasons. */
const SKIPS_ITSELF = /(?<!\bif\s*\([^\n]*\)\s*\{?\s*)\b(?:t|ctx|context|this)\.(?:skip|todo)\(/;
