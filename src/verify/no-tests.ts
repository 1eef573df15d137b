import { readable } from "./excerpt.js";

/** How runners of tests say that there was none, or none that was run. */
const NONE = [
  /^[#ℹ] tests 0$/m,
  /^[#ℹ] pass 0$/m,
  // Tests that cannot be imported yet are there all the same.
  /\bcollected 0 items\b(?! \/ \d+ error)/,
  /\bno tests? (?:ran|(?:were )?(?:run|executed|collected))\b/i,
  /\bno tests? (?:files? )?(?:were )?found\b/i,
  /\bno test is available\b/i,
  /\bno tests? to run\b/i,
  /\[no test files\]/,
  /^running 0 tests$/m,
  /^1\.\.0\b/m,
  /\b0 (?:passed|passing)\b/,
  /^> Task \S*[tT]est\S* (?:NO-SOURCE|SKIPPED)$/m,
  /^make(?:\[\d+\])?: (?:\S+ is up to date|Nothing to be done for )/m,
  /\b\d+ (?:skipped|deselected)\b.* in [\d.]+s\b/,
  /^\s*Tests:?\s.*\b\d+ (?:skipped|todo|pending)\b/m,
];

/** How they say that one has passed. */
const PASSED = [
  /^[#ℹ] pass [1-9]\d*$/m,
  /\b[1-9]\d* (?:passed|passing)\b/,
  /\bPassed: +[1-9]/,
  /^> Task \S*:\w*[tT]est(?: UP-TO-DATE| FROM-CACHE)?$/m,
];

const SURELY_FAILED = [
  /^[#ℹ] fail [1-9]\d*$/m,
  /\b[1-9]\d* (?:failed|failing)\b/,
  /^not ok \d+/m,
  /\berrors? during collection\b/,
];

/** Linters and scripts may speak like this, too. */
const FAILED = [
  ...SURELY_FAILED,
  /^\s*(?:FAIL(?:ED|URE)?\b|--- FAIL:|✖|✗|×)\s*\S/m,
  /\bFailed: +[1-9]/,
  /\bAssertion(?:Error| failed)\b/i,
];

/** All of them, and those among them that were not run. */
const COUNTED: [all: RegExp, skipped: RegExp][] = [
  [/^Ran (\d+) tests?\b/gm, /\bskipped=(\d+)/g],
  [/\b(\d+) examples?, \d+ failures?\b/g, /, (\d+) pending\b/g],
  [/\b(\d+) tests?, \d+ (?:assertions?|failures?)\b/g, /, (\d+) (?:skipped|skips)\b/g],
  [/\b(\d+) runs, \d+ assertions\b/g, /, (\d+) skips\b/g],
  [/\bTests run: (\d+)\b/g, /\bSkipped: (\d+)/g],
  [/^Tests: (\d+), Assertions: /gm, /\b(?:Skipped|Incomplete): (\d+)/g],
  [/\bExecuted (\d+) tests?\b/g, /\b(\d+) tests? skipped\b/g],
  [/ tests failed out of (\d+)/g, /\*\*\*(?:Skipped|Not Run)/g],
];

/** How they say that tests are there and cannot be read, as what they test is missing. */
const UNREADABLE = [
  /^_* ?ERROR collecting\b/m,
  /\b[1-9]\d* errors? in [\d.]+s\b/,
  /\bTest suite failed to run\b|\bFailed Suites\b/,
  /\bcould not compile `[^`]+` \((?:\w+ )?test\b/,
  /\[(?:build|setup) failed\]/,
  /\berrors? occurred (?:outside of examples|while loading)\b/,
  /\bcompileTest\w+ FAILED\b|\btestCompile\b/,
  /^(?:\s*at |\s*File "|.*\bimported from |\s*- |).*(?:\b(?:tests?|specs?|__tests__)\/[^\s:"]+|[._-](?:test|spec)|\btest_\w+)\.\w+["')]*[:(,]? ?(?:line )?\d/m,
  /\bCannot find (?:module|package)\b[^\n]*\b(?:imported from|Require stack:\n- )[^\n]*(?:\b(?:tests?|specs?|__tests__)\/|[._-](?:test|spec)\.)/,
  /\bRequire stack:\n- [^\n]*(?:\b(?:tests?|specs?|__tests__)\/|[._-](?:test|spec)\.)/,
];

/** Whether the output is that of a runner that ran no test: nothing was proved, whatever its exit code. */
export function foundNoTests(output: string): boolean {
  const text = told(output);
  const isNone = NONE.some((pattern) => pattern.test(text)) || counted(text) === 0;
  return isNone && !ranTests(text);
}

/** Whether a test has passed or failed; those that are skipped prove nothing. */
export function ranTests(output: string): boolean {
  const text = told(output);
  return passedTests(text) || FAILED.some((pattern) => pattern.test(text));
}

/** Of a runner that was content: whether it had a test to be content with. */
export function passedTests(output: string): boolean {
  const text = told(output);
  if (PASSED.some((pattern) => pattern.test(text)) || (counted(text) ?? 0) > 0) return true;
  return passedInGo(text) || passedInTap(text);
}

/** Whether it is the output of a runner of tests and of nothing else, with tests. */
export function isTestRun(output: string): boolean {
  const text = told(output);
  return passedTests(text) || SURELY_FAILED.some((pattern) => pattern.test(text));
}

/** Whether there are tests at all: they ran, or could not be read. */
export function hasTests(output: string): boolean {
  const text = told(output);
  return ranTests(text) || UNREADABLE.some((pattern) => pattern.test(text));
}

/** No line that tells is longer. */
const LINE_CHARS = 2000;

/** Files with tests are counted, too, and are no tests. */
function told(output: string): string {
  const lines = readable(output)
    .split("\n")
    .map((line) => line.slice(0, LINE_CHARS));
  return lines.join("\n").replace(/^[ \t]*(?:Test Files|Test Suites:|Snapshots:?)[ \t].*passed.*$/gm, "");
}

/** undefined: nobody has counted. */
function counted(text: string): number | undefined {
  const sums = COUNTED.flatMap(([all, skipped]) => {
    const found = [...text.matchAll(all)];
    return found.length === 0 ? [] : [sum(found) - sum([...text.matchAll(skipped)])];
  });
  return sums.length === 0 ? undefined : Math.max(0, ...sums);
}

function sum(matches: RegExpMatchArray[]): number {
  return matches.reduce((total, [, count = "1"]) => total + Number(count), 0);
}

function passedInGo(text: string): boolean {
  if (/^\s*--- SKIP:/m.test(text) && !/^\s*--- PASS:/m.test(text)) return false;
  return /^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*\[no tests)/m.test(text);
}

/** node tells a file with skipped tests as one that is ok, and counts them below. */
function passedInTap(text: string): boolean {
  return !/^[#ℹ] pass \d+$/m.test(text) && /^ok \d+\b(?!.*# (?:skip|todo))/im.test(text);
}
