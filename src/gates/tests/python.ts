import { lineAt, maskedPython } from "./masked.js";
import { linesAbove, type TestBlock } from "./test-block.js";

/** Tests of pytest and unittest. */
export function pythonTests(text: string): TestBlock[] {
  const code = maskedPython(text);
  return [...code.matchAll(/^([ \t]*)(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(/gm)].map((match) => {
    const [, indent = "", name = ""] = match;
    const start = match.index;
    const end = start + blockLength(code.slice(start), indent.length);
    const above = linesAbove(text, start, /^\s*[@#]/);
    return {
      name,
      line: lineAt(text, start),
      text: [classAround(code, start, indent.length), above, text.slice(start, end)].join("\n"),
      asserts: ASSERTION.test(code.slice(start, end).replace(TRIVIAL, "")),
      skipped: /@(?:pytest\.mark\.skip\b(?!if)|unittest\.skip\b)/.test(above),
    };
  });
}

const ASSERTION =
  /\bassert\b|\bself\.(?:assert|fail)\w*|\bpytest\.(?:raises|fail|warns)\b|\.assert_\w+|\b(?:check|verify|expect|ensure|assert)\w*\s*\(/;

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

function classAround(code: string, index: number, indent: number): string {
  if (indent === 0) return "";
  const classes = [...code.slice(0, index).matchAll(/^([ \t]*)class[ \t]+(\w+)/gm)];
  return classes.findLast(([, own = ""]) => own.length < indent)?.[2] ?? "";
}
