import { assertsWith } from "./asserting.js";
import { livingPython } from "./living-python.js";
import { blank, lineAt, maskedPython, uncommentedPython } from "./masked.js";
import { printOf, type TestBlock } from "./test-block.js";

interface Block {
  name: string;
  indent: number;
  start: number;
  end: number;
  /** Decorators and comments directly above, as they are written. */
  above: string;
}

const DEF = /^([ \t]*)(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(/gm;
const CLASS = /^([ \t]*)class[ \t]+(\w+)/gm;

/** Tests of pytest and unittest. */
export function pythonTests(text: string): TestBlock[] {
  const code = livingPython(maskedPython(text)).replace(TRIVIAL, blank);
  const plain = uncommentedPython(text);
  const functions = blocksIn(text, code, DEF);
  const classes = blocksIn(text, code, CLASS);
  const bodies = functions.map(({ name, start, end }) => ({ name, body: code.slice(start, end) }));
  const asserts = assertsWith(bodies, { sure: SURE, named: NAMED });
  const wide = wideSkips(code, functions, classes);
  return functions
    .filter(({ name }) => name.startsWith("test"))
    .map(({ name, start, end, above }) => {
      const around = classes.filter((one) => one.start < start && one.end >= end);
      const own = code.slice(start, end);
      const skipped =
        marked(above) ||
        around.map((one) => marked(one.above)).find(Boolean) ||
        wide.find((one) => one.start <= start && one.end >= end)?.why ||
        skipsItself(own);
      const isAsserting = asserts(own);
      const does = `${uncommentedPython(above)} ${plain.slice(start, end).replace(name, "").replace(DOCSTRING, "$1")}`;
      return {
        name,
        line: lineAt(text, start),
        text: [around.at(-1)?.name ?? "", above, text.slice(start, end)].join("\n"),
        asserts: isAsserting,
        skipped,
        print: printOf(`${skipped} ${isAsserting} ${does}`),
      };
    });
}

const DOCSTRING = /^([^\n]*:[ \t]*\n\s*)(?:"""[\s\S]*?"""|'''[\s\S]*?''')/;

const SKIPPED = /^\s*@(?:\w+\.)*(?:skip\b|skip[iI]f\(\s*(?:True|1)\b|skipUnless\(\s*(?:False|0)\b)/m;
/** With a condition it may have its reasons. */
const UNCONDITIONAL = "\\b(?!\\s*\\((?!\\s*(?:\\)|True\\b|1\\b|(?:reason|strict|raises|run)\\s*=)))";
const XFAIL = new RegExp(`^\\s*@(?:\\w+\\.)*(?:expectedFailure\\b|xfail${UNCONDITIONAL})`, "m");

function marked(above: string): TestBlock["skipped"] {
  if (SKIPPED.test(above)) return "skipped";
  return XFAIL.test(above) && "expected to fail";
}

interface WideSkip {
  start: number;
  end: number;
  why: TestBlock["skipped"];
}

const MARK_ALL = /^([ \t]*)(?:pytestmark[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*)|__test__[ \t]*=[ \t]*False)/gm;
const XFAIL_MARK = new RegExp(`\\bmark\\.xfail${UNCONDITIONAL}`);
const HOOK = /^(?:setUp|setUpClass|setUpModule|setup_(?:method|class|function|module))$/;

/** Of a whole file or class: marks, and what skips before each of its tests. */
function wideSkips(code: string, functions: Block[], classes: Block[]): WideSkip[] {
  const around = (at: number, indent: number): Pick<WideSkip, "start" | "end"> =>
    (indent > 0 ? classes.findLast((one) => one.start < at && one.end >= at) : undefined) ?? {
      start: 0,
      end: code.length,
    };
  const marks = [...code.matchAll(MARK_ALL)].map((match): WideSkip => {
    const [whole, indent = "", value = ""] = match;
    const isSkip =
      whole.includes("__test__") || /\bmark\.skip\b/.test(value) || /\bskipif\(\s*(?:True|1)\b/.test(value);
    const why = isSkip ? "skipped" : XFAIL_MARK.test(value) && "expected to fail";
    return { ...around(match.index, indent.length), why };
  });
  const hooks = functions.map(({ name, above, start, end, indent }): WideSkip => {
    const isHook = HOOK.test(name) || /@(?:\w+\.)*fixture\([^)]*autouse\s*=\s*True/.test(above);
    return { ...around(start, indent), why: isHook && skipsItself(code.slice(start, end)) };
  });
  const file: WideSkip = { start: 0, end: code.length, why: FILE_SKIPPED.test(code) && "skipped" };
  return [...marks, ...hooks, file].filter(({ why }) => why);
}

const FILE_SKIPPED = /^(?:pytest\.skip\(|raise (?:unittest\.)?SkipTest\b)/m;

/** Under a condition it may have its reasons. */
function skipsItself(code: string): TestBlock["skipped"] {
  const [, ...body] = code.split("\n");
  const indent = body.find((line) => line.trim() !== "")?.search(/[^\s"']/) ?? 0;
  const found = body.find((line) => line.search(/\S/) === indent && SKIP.test(line));
  return found !== undefined && (/xfail/.test(found) ? "expected to fail" : "skipped");
}

const SKIP =
  /^\s*(?:return\s+)?(?:pytest\.(?:skip|xfail)\(|self\.skipTest\(|raise (?:unittest\.)?SkipTest\b)/;

const SURE =
  /\bassert\b|\bpytest\.fail\b|\b(?:raises|warns)\s*\(|\.assert_\w+|\bself\.(?:assert[A-Z]\w*|fail)\s*\(|\braise\s+AssertionError\b/;
const NAMED = /(?<!\w)(_*(?:check|verify|expect|ensure|assert|fail)\w*)\s*\(/g;

/** True is true, whatever the code does. */
const TRIVIAL =
  /\bassert[ \t]+(?:True|1|1[ \t]*==[ \t]*1)[ \t]*(?:,[^\n]*)?(?=\n|$)|\bself\.assertTrue\(\s*True\s*\)/g;

function blocksIn(text: string, code: string, pattern: RegExp): Block[] {
  return [...code.matchAll(pattern)].map((match) => {
    const [, indent = "", name = ""] = match;
    const start = match.index;
    const end = start + blockLength(code.slice(start), indent.length);
    return { name, indent: indent.length, start, end, above: above(text, code, start) };
  });
}

/** Up to the first line that is not indented more. */
function blockLength(code: string, indent: number): number {
  const lines = code.split("\n");
  const signature = lines.findIndex((line) => /:\s*$|:\s*\S/.test(line));
  const end = lines.findIndex(
    (line, index) => index > Math.max(signature, 0) && line.trim() !== "" && line.search(/\S/) <= indent,
  );
  return (end === -1 ? lines : lines.slice(0, end)).join("\n").length;
}

/** Decorators may go over several lines. */
function above(text: string, code: string, index: number): string {
  const masked = code.slice(0, index).split("\n").slice(0, -1);
  const written = text.slice(0, index).split("\n").slice(0, -1);
  const found: string[] = [];
  let open = 0;
  for (let at = masked.length - 1; at >= 0; at -= 1) {
    const line = written[at] ?? "";
    const closing = count(masked[at], /[)\]}]/g) - count(masked[at], /[([{]/g);
    if (open === 0 && closing <= 0 && !/^\s*[@#]/.test(line)) break;
    open += closing;
    found.unshift(line);
  }
  return found.join("\n");
}

function count(line: string | undefined, pattern: RegExp): number {
  return line?.match(pattern)?.length ?? 0;
}
