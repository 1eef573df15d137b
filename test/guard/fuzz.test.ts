import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/guard/guard.js";
import { judgeToolUse } from "../../src/guard/tool-use.js";
import { stopwatch } from "../stopwatch.js";
import { corpus, PLACE } from "./corpus.js";

const COMMANDS = [...corpus("refused.txt"), ...corpus("passed.txt")].map(({ command }) => command);
const PIECES = [
  "$(",
  ")",
  "`",
  "'",
  '"',
  "{",
  "}",
  "${",
  "<<EOF\n",
  "|",
  ";",
  "&&",
  "\\",
  "\n",
  "*",
  "[",
  "~",
  "\0",
  "é",
  "\uE0FF",
  "constructor",
  "__proto__",
];
/** Of the longest that a shell takes; a decision on a usual command takes about a ten-thousandth of it. */
const LONGEST_MS = 3000;

const ANY_TEXT = fc.array(fc.nat(0x2fff), { maxLength: 200 }).map((codes) => String.fromCharCode(...codes));

function decide(command: string): boolean {
  const begun = performance.now();
  const { allowed, refusals } = judgeCommand(command, PLACE);
  expect(performance.now() - begun).toBeLessThan(LONGEST_MS);
  expect(allowed).toBe(refusals.length === 0);
  return allowed;
}

describe("any text at all", () => {
  it("is decided, and nothing is thrown", () => {
    fc.assert(
      fc.property(ANY_TEXT, (text) => void decide(text)),
      { numRuns: 200 },
    );
  });

  it("made of what shells read is decided", () => {
    const text = fc.array(fc.constantFrom(...PIECES, "rm -rf /", "ls", " "), { maxLength: 60 });
    fc.assert(
      fc.property(text, (pieces) => void decide(pieces.join(""))),
      { numRuns: 200 },
    );
  });

  it("that is a broken command is decided", () => {
    const broken = fc.tuple(fc.constantFrom(...COMMANDS), fc.nat(200), fc.constantFrom(...PIECES), fc.nat(5));
    fc.assert(
      fc.property(broken, ([command, at, piece, gone]) => {
        decide(command.slice(0, at) + piece + command.slice(at + gone));
      }),
      { numRuns: 400 },
    );
  });

  it("stays refused with something harmless around it", () => {
    const refused = corpus("refused.txt")
      .filter((_, index) => index % 8 === 0)
      .filter(
        ({ command }) =>
          !/<<|^#/.test(command) && judgeCommand(`true; ${command}`, PLACE).refusals.length > 0,
      );
    expect(refused.length).toBeGreaterThan(200);
    const around = fc.constantFrom(...refused.map(({ command }) => command));
    fc.assert(
      fc.property(around, (command) => !decide(`cd . && ls -la\n${command}\n`)),
      { numRuns: 100 },
    );
  });

  it("as the input of a tool is decided", () => {
    fc.assert(
      fc.property(fc.string(), fc.object({ maxDepth: 2 }), (tool, input) => {
        judgeToolUse({ tool, input: { ...input, file_path: tool } }, PLACE);
      }),
    );
  });
});

/** Words of the shell itself, which a quote makes a program's name. */
const RESERVED = /^(time|function|coproc|select|for|while|until|if|case)\b/;

/** Words and spaces alone, the first of them a program: what a shell takes as it is, quoted or not. */
const PLAIN = COMMANDS.filter(
  (command) => /^[a-z][\w./-]*( [\w./:@%+,-]+)*$/.test(command) && !RESERVED.test(command),
);

const QUOTES: ((word: string) => string)[] = [
  (word) => word,
  (word) => `'${word}'`,
  (word) => `"${word}"`,
  (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
  (word) => `\\${word}`,
  (word) => `$'${word}'`,
];

const verdict = (command: string): unknown => {
  const { allowed, refusals } = judgeCommand(command, PLACE);
  return { allowed, categories: refusals.map(({ category }) => category) };
};

describe("what has to be refused", () => {
  it("is not crowded out by warnings", () => {
    const warned = Array.from({ length: 25 }, (_, index) => `cat d${index}/.env`);
    expect(judgeCommand([...warned, "rm -rf /"].join("; "), PLACE).allowed).toBe(false);
  });

  it.each([
    ["braces", `rm -rf / ; echo ${"{".repeat(120_000)}`],
    ["braces that are evaluated", `X='echo ${"{".repeat(60_000)}'; ${'eval "$X";'.repeat(12)} rm -rf /`],
    ["brackets", `${"[".repeat(120_000)}; rm -rf /`],
    ["flags", `docker exec x 'rm ${"-r ".repeat(30_000)}'; rm -rf /`],
  ])("is refused soon behind many %s", (_, command) => {
    const watch = stopwatch();
    expect(judgeCommand(command, PLACE).allowed).toBe(false);
    expect(watch()).toBeLessThan(3000);
  });

  it("is seen where a shell sees no NUL", () => {
    expect(judgeCommand("r\0m -rf /", PLACE).allowed).toBe(false);
  });
});

describe("the same command in other words", () => {
  it("is judged the same, however its words are quoted", () => {
    expect(PLAIN.length).toBeGreaterThan(300);
    const quotes = fc.array(fc.constantFrom(...QUOTES), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.constantFrom(...PLAIN), quotes, (command, styles) => {
        const words = command.split(" ").map((word, index) => styles[index % styles.length]?.(word) ?? word);
        expect([words.join(" "), verdict(words.join(" "))]).toEqual([words.join(" "), verdict(command)]);
      }),
      { numRuns: 400 },
    );
  });

  it("is judged the same with comments and blanks around it and between its words", () => {
    const blank = fc.constantFrom(" ", "  ", "\t", " \\\n ");
    const end = fc.constantFrom("", " ", "\n", " # a comment", "\n# rm -rf /\n", " ;", "\n\n");
    const begin = fc.constantFrom("", " ", "\n", "# rm -rf / 'quoted\n", "\t");
    fc.assert(
      fc.property(fc.constantFrom(...PLAIN), begin, blank, end, (command, before, between, after) => {
        const same = before + command.split(" ").join(between) + after;
        expect([same, verdict(same)]).toEqual([same, verdict(command)]);
      }),
      { numRuns: 400 },
    );
  });

  it("of any sort is judged the same with a comment behind it", () => {
    const some = COMMANDS.filter((command) => !/<<|\\$|#/.test(command));
    fc.assert(
      fc.property(
        fc.constantFrom(...some),
        fc.constantFrom("\n# it's nothing", "\n", "\n\n  "),
        (command, after) => {
          expect([command, verdict(command + after)]).toEqual([command, verdict(command)]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

it("takes no longer for a usual script of 10 kB than for its commands one by one, three times", () => {
  const piece = fc.constantFrom(...COMMANDS.filter((command) => command.length < 200));
  const glue = fc.constantFrom("\n", "\n", "\n", "; ", " && ", " | ", "; $(", "; { ");
  const ratios: number[] = [];
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, glue), { minLength: 250, maxLength: 300 }), (pieces) => {
      const script = cpuMs(() => judgeCommand(pieces.flat().join("").slice(0, 10_000), PLACE));
      const some = pieces.filter((_, index) => index % 5 === 0);
      const alone = cpuMs(() => some.forEach(([command]) => void judgeCommand(command, PLACE)));
      ratios.push(script / (5 * alone));
    }),
    { numRuns: 7 },
  );
  // The median, because some of them are strange.
  expect(ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)]).toBeLessThan(3);
  expect(Math.max(...ratios)).toBeLessThan(30);
});

/** The best of three, without the time that others had the processor. */
function cpuMs(action: () => void): number {
  const times = [1, 2, 3].map(() => {
    const before = process.cpuUsage();
    action();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

describe("what is long or deep", () => {
  const times = (text: string, count: number): string => text.repeat(count);
  it.each([
    ["a megabyte", times("x", 1 << 20), false],
    ["many commands", times("a;", 60_000), false],
    ["a long pipe", `${times("a|", 20_000)}b`, false],
    ["deep substitutions", times("$(", 3000) + times(")", 3000), false],
    ["deep groups", times("{ ", 5000), false],
    ["many arguments", `rm -rf ${times("x/y ", 20_000)}`, false],
    [
      "a loop in a loop in a loop",
      `${times("for a in 1 2 3 4 5 6 7 8; do ", 12)}echo $a;${times(" done;", 12)}`,
      false,
    ],
    ["a function that calls itself", "f() { f; f; f; }; f", false],
    ["an eval of itself", `e='eval "$e"'; eval "$e"`, false],
    ["a text that doubles", `x=aaaa;${times("x=$x$x;", 40)}echo $x`, true],
    ["braces of braces", `echo ${times("{a,b}", 40)}`, true],
    ["a pattern of patterns", `cat /${times("*a", 3000)}`, true],
    ["a long path", `cat ${times("a/", 30_000)}b`, true],
    ["a long text", `cat > x <<'EOF'\n${times("some words with $x and `y`\n", 3000)}EOF`, true],
    ["long code", `python3 -c "${times("print('a') ", 8000)}"`, true],
  ])("%s is decided soon", (_, command, allowed) => {
    expect(decide(command)).toBe(allowed);
  });
});

it("takes far less than a millisecond for a usual command", () => {
  const some = COMMANDS.filter((_, index) => index % 5 === 0);
  for (const command of some) judgeCommand(command, PLACE);
  const times = some.map((command) => {
    const begun = performance.now();
    judgeCommand(command, PLACE);
    return performance.now() - begun;
  });
  // The median: on a busy machine some of them wait for others.
  expect(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]).toBeLessThan(1);
});
