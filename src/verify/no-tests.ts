import { stripVTControlCharacters } from "node:util";
import { digest } from "../records/files.js";
import { NAMES_FAILURE, readable } from "./excerpt.js";

const SURELY_FAILED = [
  /^[#ℹ] fail [1-9]\d*$/m,
  /\b[1-9]\d* (?:failed|failing)\b/,
  /^not ok \d+/m,
  /\berrors? during collection\b/,
];

const SIGNS = {
  /** That there was no test, or none that was run. */
  none: [
    /^[#ℹ] tests 0$/m,
    /^[#ℹ] pass 0$/m,
    // Tests that cannot be imported yet are there all the same.
    /\bcollected 0 items\b(?! \/ \d+ error)/,
    /\bno tests? (?:ran|(?:were )?(?:run|executed|collected))\b/i,
    /\bno tests? (?:files? )?(?:were )?found\b/i,
    /\bno test is available\b|\bno test matches\b|\bno specs? found\b/i,
    /\bcouldn.t find any (?:files to test|tests)\b|\bExecuted 0 of 0\b/i,
    /\bno tests? to run\b/i,
    /\[no test files\]/,
    /^running 0 tests$/m,
    /^1\.\.0\b/m,
    /\b0 (?:passed|passing)\b/,
    /^> Task \S*[tT]est\S* (?:NO-SOURCE|SKIPPED)$/m,
    /^make(?:\[\d+\])?: (?:\S*(?:test|check|spec)\S* is up to date|Nothing to be done for \S*(?:test|check|spec))/m,
    /^No tasks were executed as part of this run\b/m,
    /\bNone of the (?:selected )?packages has a "test\S*" script\b/,
    /^ ?Tasks: +0 successful, 0 total$/m,
    /^\[INFO\] Tests are skipped\.$/m,
    /^\[ {2}PASSED {2}\] 0 tests\.$/m,
    /\b\d+ (?:skipped|deselected)\b.* in [\d.]+s\b/,
    /^\s*Tests:?\s.*\b\d+ (?:skipped|todo|pending)\b/m,
  ],
  passed: [
    /^[#ℹ] pass [1-9]\d*$/m,
    /\b[1-9]\d* (?:tests? |specs? )?(?:passed|passing)\b/,
    /\bPassed: +[1-9]|\bExecuted [1-9]\d* of \d+\b/,
    /^> Task \S*:\w*[tT]est(?: UP-TO-DATE| FROM-CACHE)?$/m,
  ],
  surelyFailed: SURELY_FAILED,
  /** Linters and scripts may speak like this, too. */
  failed: [
    ...SURELY_FAILED,
    /^\s*(?:FAIL(?:ED|URE)?\b|--- FAIL:|✖|✗|×)\s*\S/m,
    /\bFailed: +[1-9]/,
    /\bAssertion(?:Error| failed)\b/i,
  ],
  goOk: [/^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*\[no tests)/],
  goSkip: [/^\s*--- SKIP:/],
  goPass: [/^\s*--- PASS:/],
  // node tells a file with skipped tests as one that is ok, and counts them below.
  tapOk: [/^ok \d+\b(?!.*# (?:skip|todo))/i],
  tapCount: [/^[#ℹ] pass \d+$/],
} satisfies Record<string, RegExp[]>;

const ALL_SIGNS = Object.entries(SIGNS) as [keyof typeof SIGNS, RegExp[]][];

/** All of them, and those among them that were not run. */
const COUNTED: [all: RegExp, skipped: RegExp][] = [
  [/^Ran (\d+) tests?\b/gm, /\bskipped=(\d+)/g],
  [/\b(\d+) examples?, \d+ failures?\b/g, /, (\d+) pending\b/g],
  [/\b(\d+) tests?, \d+ (?:assertions?|failures?)\b/g, /, (\d+) (?:skipped|skips)\b/g],
  [/\b(\d+) runs, \d+ assertions\b/g, /, (\d+) skips\b/g],
  [/\b(\d+) specs?, \d+ failures?\b/g, /, (\d+) pending specs?\b/g],
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

export type TestTally = ReturnType<typeof createTestTally>;

/** What is known of the tests in an output, however long it is: it is read line by line, and no line is kept. */
export function createTestTally() {
  const seen = new Set<keyof typeof SIGNS>();
  const failures = new Set<string>();
  /** For each way of counting: how many tests were run; undefined: nobody has counted so. */
  const counts: (number | undefined)[] = COUNTED.map(() => undefined);
  /** Those that were skipped may be counted before all of them are. */
  const skips = COUNTED.map(() => 0);

  const read = (line: string): void => {
    for (const [sign, patterns] of ALL_SIGNS)
      if (!seen.has(sign) && patterns.some((pattern) => pattern.test(line))) seen.add(sign);
    for (const [index, [all, skipped]] of COUNTED.entries()) {
      const found = sum(line, all);
      if (found !== undefined) counts[index] = (counts[index] ?? 0) + found;
      skips[index] = (skips[index] ?? 0) + (sum(line, skipped) ?? 0);
    }
  };
  /** undefined: nobody has counted. */
  const counted = (): number | undefined => {
    const known = counts.flatMap((count, index) => (count === undefined ? [] : count - (skips[index] ?? 0)));
    return known.length === 0 ? undefined : Math.max(0, ...known);
  };
  /** Of a runner that was content: whether it had a test to be content with. */
  const passed = (): boolean =>
    seen.has("passed") ||
    (counted() ?? 0) > 0 ||
    (seen.has("goOk") && (!seen.has("goSkip") || seen.has("goPass"))) ||
    (seen.has("tapOk") && !seen.has("tapCount"));
  /** Whether a test has passed or failed; those that are skipped prove nothing. */
  const ran = (): boolean => passed() || seen.has("surelyFailed") || seen.has("failed");

  return {
    add(line: string): void {
      if (!MAY_TELL.test(line)) return;
      const text = readable(line).slice(0, LINE_CHARS);
      if (NAMES_FAILURE.test(text) && failures.size < MAX_FAILURES) failures.add(sameNames(text));
      if (FILES.test(text)) return;
      read(text);
      const own = text.replace(PREFIX, "");
      if (own !== text && !FILES.test(own)) read(own);
    },
    /** Whether it is the output of a runner that ran no test: nothing was proved, whatever its exit code. */
    foundNone: () => (seen.has("none") || counted() === 0) && !ran(),
    ran,
    passed,
    /** Whether it is the output of a runner of tests and of nothing else, with tests. */
    isTestRun: () => passed() || seen.has("surelyFailed"),
    /** The same word for outputs that name the same failures; undefined: it names none. */
    failing: async () => (failures.size === 0 ? undefined : digest([...failures].sort().join("\n"))),
  };
}

function sum(line: string, pattern: RegExp): number | undefined {
  const found = [...line.matchAll(pattern)];
  return found.length === 0 ? undefined : found.reduce((total, [, count = "1"]) => total + Number(count), 0);
}

const MAX_FAILURES = 10_000;

/** Most lines of a long output say nothing of tests. */
const MAY_TELL =
  /pass|fail|test|ok\b|skip|select|running|collect|1\.\.0|\bruns\b|example|spec|execut|make|assert|error|[✖✗×✘✕●❯]|\d\) /i;

/** No line that tells is longer. */
const LINE_CHARS = 2000;

/** Files with tests are counted, too, and are no tests. */
const FILES = /^[ \t]*(?:Test Files|Test Suites:|Snapshots:?)[ \t].*passed/;

/** What tools for many packages put before each line: `web:test: `, `packages/a test: `, `app-1  | `, `@x/a: `. */
const PREFIX = /^(?:@?[\w./-]+:[\w:./-]+: ?|@?[\w./-]+ [\w:-]+(?:: |\$ )|[\w.-]+ *\| |@?[\w./-]+: )/;

export function tallyOf(output: string): TestTally {
  const tally = createTestTally();
  for (const line of output.split("\n")) tally.add(line);
  return tally;
}

/** Whether there are tests at all: they ran, or could not be read. */
export function hasTests(output: string): boolean {
  const text = readable(output);
  return tallyOf(text).ran() || UNREADABLE.some((pattern) => pattern.test(text));
}

/** A text without colours, folders, addresses, ids, times and numbers: all that differs each time. */
export function normalForm(text: string): string {
  return applied([...RULES, [/\d+/g, "0"], ...ENDINGS], text);
}

/** The same for a line that names a test: numbers in the name are part of it, times and places are not. */
function sameNames(line: string): string {
  return applied([...RULES, ...MEASURES, ...ENDINGS], line);
}

type Rule = [RegExp, string];

function applied(rules: Rule[], text: string): string {
  return rules.reduce((rest, [pattern, word]) => rest.replace(pattern, word), stripVTControlCharacters(text));
}

const RULES: Rule[] = [
  [
    /(?:[A-Za-z]:)?[\\/](?:private[\\/])?(?:tmp|var[\\/]folders|dev[\\/]shm)(?:[\\/][\w.@+-]+)+/g,
    "<temporary>",
  ],
  [/(?<![\w.@~-])(?:[A-Za-z]:)?[\\/](?:[\w.@+-]+[\\/])+/g, "/"],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\b0x[0-9a-f]+\b/gi, "<address>"],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/gi, "<hash>"],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? (?=\d|[A-Z][a-z]{2} \d)/g, ""],
  [/\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* (?=\d)/g, ""],
];

const MEASURES: Rule[] = [
  [/\d+(?:[.:]\d+)+/g, "0"],
  [/:\d+/g, ":0"],
  [/\b\d+ ?(?=(?:ms|µs|us|ns|s|sec|secs|seconds?|m|min|minutes?)\b)/g, "0"],
];

const ENDINGS: Rule[] = [
  [/(?:0[.:,]?)*0 ?(?:ms|µs|us|ns|s|sec|secs|seconds?|m|min|minutes?)\b/g, "<time>"],
  [/[ \t]+$/gm, ""],
];
