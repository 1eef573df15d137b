import { type Assertions, assertsWith, type Definition } from "./asserting.js";
import { livingBraces } from "./living.js";
import { blank, closingOf, lineAt, maskedBraces, uncommentedBraces } from "./masked.js";
import { linesAbove, printOf, type TestBlock } from "./test-block.js";

interface Language extends Assertions {
  test: RegExp;
  definition: RegExp;
  /** In the attributes and at the top of the test; under a condition it may have its reasons. */
  skipped: RegExp;
  /** None of the tests of the file is run. */
  fileSkipped: (text: string, code: string) => boolean;
}

const RUST: Language = {
  test: /#\[(?:\w+::)?test\b[^\]]*\][\s\S]*?\bfn\s+(\w+)[^{]*/g,
  definition: /\bfn\s+(\w+)[^{;]*(?=\{)/g,
  sure: /\b\w*assert\w*!|\bpanic!|should_panic|\.unwrap_err\(|\.expect_err\(|->\s*[\w:]*Result\b[\s\S]*\?\s*[;.,)}]/,
  named: /\b((?:check|verify|assert)\w*)\(/g,
  skipped: /#\[ignore\b/,
  fileSkipped: (_, code) => /^#!\[cfg\((?:any\(\)|not\(test\))\)\]/m.test(code),
};

const GO: Language = {
  test: /^func\s+(Test(?!Main\b)\w+)\s*\([^{]*/gm,
  definition: /^func\s+(?:\([^)]*\)\s*)?(\w+)[^{\n]*(?=\{)/gm,
  sure: /\bt\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|qt)\.\w+\(/i,
  named: /\b((?:check|verify|assert|must)\w*)\(/gi,
  skipped: /\bt\.Skip(?:f|Now)?\(/,
  fileSkipped: (text, code) =>
    /^\/\/go:build\s+(?:ignore|never|false)\b/m.test(text) ||
    /^func\s+TestMain\b(?![\s\S]*?\bm\.Run\()/m.test(code),
};

export function rustTests(text: string): TestBlock[] {
  return testsIn(text, RUST);
}

export function goTests(text: string): TestBlock[] {
  return testsIn(text, GO);
}

/** True is true, whatever the code does. */
const TRIVIAL = /\bassert(?:_eq)?!\(\s*(?:true|1\s*,\s*1)\s*(?:,[^)]*)?\)/g;
const TOLD = /\b(?:panic|assert\w*|Error\w*|Fatal\w*|Fail\w*)\b/;

function testsIn(text: string, language: Language): TestBlock[] {
  const code = livingBraces(maskedBraces(text), TOLD).replace(TRIVIAL, blank);
  const plain = uncommentedBraces(text);
  const asserts = assertsWith(definitionsIn(code, language), language);
  const isFileSkipped = language.fileSkipped(text, code);
  return [...code.matchAll(language.test)].map((match) => {
    const [head, name = ""] = match;
    const start = match.index;
    const end = closingOf(code, start + head.length) ?? text.length;
    const own = code.slice(start, end);
    const above = linesAbove(text, start, /^\s*(?:\/\/|#\[)/);
    const skipped = (isFileSkipped || language.skipped.test(`${above}\n${withoutBlocks(own)}`)) && "skipped";
    const isAsserting = asserts(own);
    return {
      name,
      line: lineAt(text, start),
      text: `${above}\n${text.slice(start, end)}`,
      asserts: isAsserting,
      skipped,
      print: printOf(`${skipped} ${isAsserting} ${plain.slice(start, end).replace(name, "")}`),
    };
  });
}

function definitionsIn(code: string, { definition }: Language): Definition[] {
  return [...code.matchAll(definition)].map((match) => {
    const open = match.index + match[0].length;
    return { name: match[1] ?? "", body: code.slice(match.index, closingOf(code, open)) };
  });
}

/** Of a function what is run in any case. */
function withoutBlocks(code: string): string {
  let depth = 0;
  const open = code.indexOf("{");
  return [...code.slice(open + 1)].reduce(
    (kept, char) => {
      if (char === "{") depth += 1;
      if (char === "}") depth -= 1;
      return depth === 0 ? kept + char : kept;
    },
    code.slice(0, open),
  );
}
