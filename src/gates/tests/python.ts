import { lineAt, maskedPython } from "./masked.js";
import { linesAbove, type TestBlock } from "./test-block.js";

/** Tests of pytest and unittest. */
export function pythonTests(text: string): TestBlock[] {
  const code = maskedPython(text);
  const isFileSkipped = FILE_SKIPPED.test(code);
  return [...code.matchAll(/^([ \t]*)(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(/gm)].map((match) => {
    const [, indent = "", name = ""] = match;
    const start = match.index;
    const end = start + blockLength(code.slice(start), indent.length);
    const above = linesAbove(text, start, /^\s*[@#]/);
    const around = classAround(code, start, indent.length);
    const aboveClass = around === undefined ? "" : linesAbove(text, around.index, /^\s*[@#]/);
    return {
      name,
      line: lineAt(text, start),
      text: [around?.[2] ?? "", above, text.slice(start, end)].join("\n"),
      asserts: ASSERTION.test(code.slice(start, end).replace(TRIVIAL, "")),
      skipped:
        SKIPPED.test(`${above}\n${aboveClass}`) || isFileSkipped || skipsItself(code.slice(start, end)),
    };
  });
}

const SKIPPED = /^\s*@(?:pytest\.mark\.|unittest\.)?(?:skip\b|skip[iI]f\(\s*(?:True|1)\b)/m;
const FILE_SKIPPED = /^(?:pytestmark\s*=\s*\[?\s*pytest\.mark\.skip\b|pytest\.skip\()/m;

/** Under a condition it may have its reasons. */
function skipsItself(code: string): boolean {
  const [, ...body] = code.split("\n");
  const indent = body.find((line) => line.trim() !== "")?.search(/[^\s"']/) ?? 0;
  return body.some((line) => line.search(/\S/) === indent && SKIP.test(line));
}

const SKIP = /^\s*(?:pytest\.skip\(|self\.skipTest\(|raise (?:unittest\.)?SkipTest\b)/;

const ASSERTION =
  /\bassert\b|\bself\.(?:assert|fail)\w*|\bpytest\.fail\b|\b(?:raises|warns)\s*\(|\.assert_\w+|\b(?:check|verify|expect|ensure|assert)\w*\s*\(/;

/** True is true, whatever the code does. */
const TRIVIAL =
  /\bassert[ \t]+(?:True|1|1[ \t]*==[ \t]*1)[ \t]*(?:,[^\n]*)?(?=\n|$)|\bself\.assertTrue\(\s*True\s*\)/g;

/** Up to the first line that is not indented more. */
function blockLength(code: string, indent: number): number {
  const lines = code.split("\n");
  const signature = lines.findIndex((line) => /:\s*$|:\s*\S/.test(line));
  const end = lines.findIndex(
    (line, index) => index > Math.max(signature, 0) && line.trim() !== "" && line.search(/\S/) <= indent,
  );
  return (end === -1 ? lines : lines.slice(0, end)).join("\n").length;
}

function classAround(code: string, index: number, indent: number): RegExpExecArray | undefined {
  if (indent === 0) return undefined;
  const classes = [...code.slice(0, index).matchAll(/^([ \t]*)class[ \t]+(\w+)/gm)];
  return classes.findLast(([, own = ""]) => own.length < indent);
}
