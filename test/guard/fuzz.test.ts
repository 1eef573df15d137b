import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/guard/guard.js";
import { corpus, PLACE } from "./corpus.js";

const REFUSED = corpus("refused.txt").map(({ command }) => command);
const COMMANDS = [...REFUSED, ...corpus("passed.txt").map(({ command }) => command)];
const PIECES = [
  ..."$(,),`,',\",{,},${,<<EOF\n,|,;,&&,\\,\n,*,[,~,\0,é,\uE0FF,constructor,__proto__".split(","),
];
const ANY_TEXT = fc.array(fc.nat(0x2fff), { maxLength: 200 }).map((codes) => String.fromCharCode(...codes));

function decide(command: string): boolean {
  const { allowed, refusals } = judgeCommand(command, PLACE);
  expect(allowed).toBe(refusals.length === 0);
  return allowed;
}

describe("any text at all", () => {
  const ofPieces = fc.array(fc.constantFrom(...PIECES, "rm -rf /", "ls", " "), { maxLength: 60 });
  const broken = fc
    .tuple(fc.constantFrom(...COMMANDS), fc.nat(200), fc.constantFrom(...PIECES), fc.nat(5))
    .map(([command, at, piece, gone]) => command.slice(0, at) + piece + command.slice(at + gone));

  it.each([
    ["of any letters", ANY_TEXT],
    ["of what shells read", ofPieces.map((pieces) => pieces.join(""))],
    ["that is a broken command", broken],
  ])("%s is decided, and nothing is thrown", (_, texts) => {
    fc.assert(
      fc.property(texts, (text) => void decide(text)),
      { numRuns: 300 },
    );
  });
});

describe("what has to be refused", () => {
  it("stays refused with something harmless around it", () => {
    const plain = REFUSED.filter((command) => !/<<|^#/.test(command));
    const around = fc.constantFrom(...plain.filter((command) => !decide(`true; ${command}`)));
    fc.assert(
      fc.property(around, (command) => !decide(`cd . && ls -la\n${command}\n`)),
      { numRuns: 100 },
    );
  });

  it.each([
    ["warnings", [...Array.from({ length: 25 }, (_, at) => `cat d${at}/.env`), "rm -rf /"].join("; ")],
    ["braces that are evaluated", `X='echo ${"{".repeat(60_000)}'; ${'eval "$X";'.repeat(12)} rm -rf /`],
    ["flags", `docker exec x 'rm ${"-r ".repeat(30_000)}'; rm -rf /`],
    ["a NUL, which no shell sees", "r\0m -rf /"],
  ])("is refused behind %s", (_, command) => {
    expect(decide(command)).toBe(false);
  });
});

/** Words and spaces alone, the first of them no word of the shell itself: what a shell takes as it is, quoted or not. */
const PLAIN = COMMANDS.filter(
  (command) =>
    /^[a-z][\w./-]*( [\w./:@%+,-]+)*$/.test(command) &&
    !/^(time|function|coproc|select|for|if|case)\b/.test(command),
);
const QUOTES: ((word: string) => string)[] = [
  (word) => word,
  (word) => `'${word}'`,
  (word) => `"${word}"`,
  (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
  (word) => `\\${word}`,
  (word) => `$'${word}'`,
];

it("judges a command the same however it is quoted, and with comments and blanks around it and between its words", () => {
  const verdict = (command: string): unknown => {
    const { allowed, refusals } = judgeCommand(command, PLACE);
    return { allowed, categories: refusals.map(({ category }) => category) };
  };
  expect(PLAIN.length).toBeGreaterThan(200);
  const quotes = fc.array(fc.constantFrom(...QUOTES), { minLength: 1, maxLength: 6 });
  const begin = fc.constantFrom("", " ", "\n", "# rm -rf / 'quoted\n", "\t");
  const blank = fc.constantFrom(" ", "  ", "\t", " \\\n ");
  const end = fc.constantFrom("", " ", "\n", " # a comment", "\n# it's nothing\n", " ;", "\n\n");
  fc.assert(
    fc.property(
      fc.constantFrom(...PLAIN),
      quotes,
      begin,
      blank,
      end,
      (command, styles, before, between, after) => {
        const words = command.split(" ").map((word, index) => styles[index % styles.length]?.(word) ?? word);
        const same = before + words.join(between) + after;
        expect([same, verdict(same)]).toEqual([same, verdict(command)]);
      },
    ),
    { numRuns: 600 },
  );
});

describe("what is long or deep", () => {
  const times = (text: string, count: number): string => text.repeat(count);
  it.each([
    ["a megabyte", times("x", 1 << 20), false],
    ["many commands", times("a;", 60_000), false],
    ["deep substitutions", times("$(", 3000) + times(")", 3000), false],
    ["many arguments", `rm -rf ${times("x/y ", 20_000)}`, false],
    ["a function that calls itself", "f() { f; f; f; }; f", false],
    ["an eval of itself", `e='eval "$e"'; eval "$e"`, false],
    ["a text that doubles", `x=aaaa;${times("x=$x$x;", 40)}echo $x`, true],
    ["braces of braces", `echo ${times("{a,b}", 40)}`, true],
    ["a long text", `cat > x <<'EOF'\n${times("some words with $x and `y`\n", 3000)}EOF`, true],
    ["long code", `python3 -c "${times("print('a') ", 8000)}"`, true],
  ])("%s is decided", (_, command, allowed) => {
    expect(decide(command)).toBe(allowed);
  });
});
