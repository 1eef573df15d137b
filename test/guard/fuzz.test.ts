import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/guard/guard.js";
import { judgeToolUse } from "../../src/guard/tool-use.js";
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
