import { closingOf, lineAt, maskedBraces } from "./masked.js";
import { linesAbove, type TestBlock } from "./test-block.js";

interface Language {
  test: RegExp;
  asserts: RegExp;
  skipped: RegExp;
}

const RUST: Language = {
  test: /#\[(?:\w+::)?test\b[^\]]*\][\s\S]*?\bfn\s+(\w+)[^{]*/g,
  asserts:
    /\b\w*assert\w*!|\bpanic!|should_panic|\.unwrap_err\(|\.expect_err\(|\b(?:check|verify|assert)\w*\(|->\s*[\w:]*Result\b[\s\S]*\?\s*[;.,)}]/,
  skipped: /#\[ignore\b/,
};

const GO: Language = {
  test: /^func\s+(Test\w+)\s*\([^{]*/gm,
  asserts:
    /\bt\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|qt)\.\w+\(|\b(?:check|verify|assert|must)\w*\(/i,
  skipped: /\bt\.Skip(?:f|Now)?\(/,
};

export function rustTests(text: string): TestBlock[] {
  return testsIn(text, RUST);
}

export function goTests(text: string): TestBlock[] {
  return testsIn(text, GO);
}

function testsIn(text: string, { test, asserts, skipped }: Language): TestBlock[] {
  const code = maskedBraces(text);
  return [...code.matchAll(test)].map((match) => {
    const start = match.index;
    const end = closingOf(code, start + match[0].length) ?? text.length;
    const own = code.slice(start, end);
    const above = linesAbove(text, start, /^\s*(?:\/\/|#\[)/);
    return {
      name: match[1] ?? "",
      line: lineAt(text, start),
      text: `${above}\n${text.slice(start, end)}`,
      asserts: asserts.test(own),
      skipped: skipped.test(`${above}\n${own}`),
    };
  });
}
