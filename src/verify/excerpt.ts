import { stripVTControlCharacters } from "node:util";

/** Output as it would stand on a screen: no colours, no control characters, of a line that was redrawn the last state. */
export function readable(output: string): string {
  return stripVTControlCharacters(output)
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1))
    .join("\n")
    .replace(/(?!\t|\n)\p{Cc}/gu, "");
}

/** At most that many characters, and no half of one. */
export function beginning(text: string, chars: number): string {
  return text.length <= chars ? text : text.slice(0, isWithinCharacter(text, chars) ? chars - 1 : chars);
}

export function ending(text: string, chars: number): string {
  const from = text.length - chars;
  return from <= 0 ? text : text.slice(isWithinCharacter(text, from) ? from + 1 : from);
}

function isWithinCharacter(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text[at - 1] ?? "") && /[\udc00-\udfff]/.test(text[at] ?? "");
}

/** The first line that says something, cut where it gets long. */
export function oneLine(text: string, chars: number): string {
  const line = text.trim().split("\n", 1)[0]?.trimEnd() ?? "";
  return line.length <= chars ? line : `${beginning(line, chars - 1)}…`;
}

/** In a fence that nothing inside can close. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** What stands where a part of an output is left out. */
const CUT = "... [truncated]";
/** Lines that name failures leave at least the rest of the room to the end of the output. */
const NAMED_SHARE = 0.6;
/** No line that names a failure needs more. */
const LINE_CHARS = 500;
/** Of a line that is longer, the rest is not looked at. */
const MOST_CHARS = 2000;
/** Lines after one that names a failure that may say more about it. */
const BLOCK_LINES = 12;

/** Lines of test runners, compilers and linters that name what failed. */
export const NAMES_FAILURE =
  /^\s*(?:not ok\b|--- FAIL:|(?:FAILED|FAIL|ERROR|FAILURE)\b|[✗✘✕✖×●❯] |\d+\) |test .* \.\.\. FAILED|\[\s*FAILED\s*\])/;
/** Other lines that say what is wrong. */
const NAMES_ERROR =
  /error\b|\bFAILED\b|\bfailed:|\bpanic(?:ked)?\b|exception\b|^\s*Traceback|^E\s{2,}|^\S+?:\d+:\d+: |\bassert\w*\b.*\bfailed\b/i;
/** Lines that say that something is well, whatever words are in them. */
const IS_WELL =
  /^\s*(?:ok\b|[✓✔√]|PASS(?:ED)?\b)|\b(?:0|no) (?:errors?|fail\w*)\b|^\s*not ok\b.*# (?:TODO|SKIP)\b/i;
/** What stands below a line that names a failure: what was expected, and what came. */
const SAYS_MORE = /^\s*(?:E\b|[>|+-]|expected|received|actual|got\b|want\b|left\b|right\b)/i;
/** Frames of a stack, and what node:test prints for machines. */
const SAYS_NOTHING =
  /^\s+at\s|\bnode:(?:internal|async_hooks)\b|^\s+(?:---|\.\.\.|stack:|code:|name:|operator:|type:|failureType:|duration_ms:)|\|-$/;
/** Most lines of a long output name nothing. */
const MAY_NAME = /not ok|fail|error|panic|exception|assert|traceback|[✗✘✕✖×●❯]|\d\) |:\d+: |E {2}/i;

/** A test that failed, what is said about one, another error. */
type Rank = "test" | "more" | "error";

function rankOf(line: string): Rank | undefined {
  if (IS_WELL.test(line)) return undefined;
  if (NAMES_FAILURE.test(line)) return "test";
  return NAMES_ERROR.test(line) ? "error" : undefined;
}

/** A line that names a failure, and those below it. */
interface FailureBlock {
  isTest: boolean;
  indent: number;
  left: number;
}

/** The block that a line belongs to, where the one before it belongs to `block`. */
function blockOf(
  line: string,
  rank: Rank | undefined,
  block: FailureBlock | undefined,
): FailureBlock | undefined {
  const indent = line.search(/\S/);
  // What is said of a test is a part of its block.
  if (rank === "test" || (rank === "error" && !block?.isTest))
    return { isTest: rank === "test", indent, left: BLOCK_LINES };
  if (block === undefined || block.left === 0 || IS_WELL.test(line)) return undefined;
  const goesOn = rank === "error" || indent > block.indent || SAYS_MORE.test(line);
  return goesOn ? { ...block, left: block.left - 1 } : undefined;
}

/** Tells of each line of an output whether it names a failure, or belongs to one that does. */
function createMarker(): (raw: string) => Rank | undefined {
  let block: FailureBlock | undefined;
  return (raw) => {
    if (block === undefined && !MAY_NAME.test(raw)) return undefined;
    const line = readable(raw);
    if (line.trim() === "") return undefined;
    const rank = rankOf(line);
    block = blockOf(line, rank, block);
    if (block === undefined || SAYS_NOTHING.test(line)) return undefined;
    return block.isTest && rank !== "test" ? "more" : (rank ?? "error");
  };
}

/** `at`: its number. */
type RankedLine = { rank: Rank; at: number; line: string };

/**
 * What people and agents are shown of an output: the lines that name failures first, then the end, in that many
 * characters. It is given every line, and keeps no more than it shows.
 */
export function createExcerpt(chars: number, redact: (text: string) => string) {
  const mark = createMarker();
  const room = chars * NAMED_SHARE;
  const kept: Record<Rank, RankedLine[]> = { test: [], more: [], error: [] };
  const size = { test: 0, more: 0, error: 0 };
  const names = new Set<string>();
  let isRepeated = false;
  let count = 0;
  return {
    add(raw: string): void {
      count += 1;
      const rank = mark(raw.length > MOST_CHARS ? raw.slice(0, MOST_CHARS) : raw);
      if (rank === undefined || size[rank] > room) return;
      const line = beginning(redact(readable(raw)).trimEnd(), LINE_CHARS);
      // Many runners name what failed once more at the end.
      if (rank === "test") isRepeated = names.has(line);
      if (isRepeated && rank !== "error") return;
      names.add(line);
      kept[rank].push({ rank, at: count, line });
      size[rank] += line.length + 1;
    },
    /** `end`: as much of the end as there is room for, or more; `isWhole`: there is nothing before it. */
    result(end: string, isWhole: boolean): string {
      if (isWhole && end.length <= chars) return end;
      const tests = within([...kept.test, ...kept.more], room).sort((a, b) => a.at - b.at);
      const named = within([...tests, ...kept.error], room);
      const taken = named.reduce((sum, { line }) => sum + line.length + 1, 0);
      const cut = ending(end, chars - taken);
      // Without the rest of a line at its beginning, unless there is nothing else.
      const whole = cut.slice(cut.indexOf("\n") + 1);
      const last = whole.trim() === "" ? cut : whole;
      const from = count - last.trimEnd().split("\n").length;
      // What is said about a test need not be said twice.
      const first = named.filter(({ at, rank }) => rank !== "more" || at <= from).map(({ line }) => line);
      return [...first, CUT, last].join("\n");
    },
  };
}

function within(lines: RankedLine[], chars: number): RankedLine[] {
  let left = chars;
  return lines.filter(({ line }) => {
    left -= line.length + 1;
    return left >= 0;
  });
}

/** Names of tests that are shown before what is said about them. */
const NAMES_FIRST = 3;

/** The same in that many lines, for a screen. */
export function excerptLines(output: string, count: number): string[] {
  const all = output.split("\n").filter((line) => line.trim() !== "");
  const cut = all.indexOf(CUT);
  // What an excerpt names first may stand in its end, too.
  const lines = all.filter((line, index) => index !== cut && (index > cut || !all.includes(line, cut)));
  if (lines.length <= count) return lines;
  const mark = createMarker();
  const ranks = lines.map((line) => mark(line));
  const of = (rank: Rank): number[] => [...lines.keys()].filter((index) => ranks[index] === rank);
  const tests = of("test");
  const named = [...tests.slice(0, NAMES_FIRST), ...of("more"), ...tests.slice(NAMES_FIRST), ...of("error")];
  const first = named.slice(0, Math.ceil(count * NAMED_SHARE));
  const others = [...lines.keys()].filter((index) => !first.includes(index));
  const shown = [...first, ...others.slice(first.length - count)];
  return shown.sort((a, b) => a - b).map((index) => lines[index] as string);
}

/** What names a failure, the most exact way first. */
const TELLING = [
  /^\s*FAILED \S+/,
  /^\s*ERROR \S+/,
  /^\s*not ok \d+/,
  /^\s*(?:✖|✗|×|●|--- FAIL:)\s+\S/,
  /^test .* \.\.\. FAILED$/,
  /^\s*FAIL\s+\S/,
  /: error: /,
  /^\S+?:\d+(?::\d+)?: \S/,
  /error\b/i,
  /\bfail/i,
  /\bexception\b|\bassert/i,
  /\bnot found\b/i,
];

/** The line of an output that names the first failure; undefined: none does. */
export function firstFailure(output: string): string | undefined {
  const lines = readable(output)
    .split("\n")
    .filter((line) => line.trim() !== "" && !IS_WELL.test(line));
  const found = TELLING.map((pattern) => lines.find((line) => pattern.test(line)));
  return found.find((line) => line !== undefined)?.trim();
}
