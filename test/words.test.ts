import fc from "fast-check";
import { expect, test } from "vitest";
import { RalphError } from "../src/errors.js";
import { quoteWord, splitWords } from "../src/words.js";

const LINES: [line: string, words: string[]][] = [
  ["", []],
  ["   \t\n ", []],
  ["claude", ["claude"]],
  ["--model opus", ["--model", "opus"]],
  ["  --model \t opus\n", ["--model", "opus"]],
  ["'one word'", ["one word"]],
  ['"one word"', ["one word"]],
  ['a"b c"d', ["ab cd"]],
  ["a'b c'd", ["ab cd"]],
  [`'it'"'"'s'`, ["it's"]],
  ["it\\'s", ["it's"]],
  ["one\\ word", ["one word"]],
  ["''", [""]],
  ['a "" b', ["a", "", "b"]],
  ["--x=''", ["--x="]],
  ["' '", [" "]],
  ["\\ ", [" "]],
  ["'a\\b'", ["a\\b"]],
  ['"a\\"b\\\\c\\$d\\`e"', ['a"b\\c$d`e']],
  ['"a\\nb"', ["a\\nb"]],
  ["a\\\\b", ["a\\b"]],
  ["$HOME `id` $(id) *.ts ~ #x ; | &", ["$HOME", "`id`", "$(id)", "*.ts", "~", "#x", ";", "|", "&"]],
  ["größe “a b”", ["größe", "“a", "b”"]],
  ["'line one\nline two'", ["line one\nline two"]],
];

test.each(LINES)("%j", (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

const UNBALANCED: [line: string, character: number][] = [
  ["claude 'oops", 8],
  ['claude "oops', 8],
  ['"ends with a backslash\\"', 1],
  ["ends with a backslash\\", 22],
];

test.each(UNBALANCED)("%j cannot be split", (line, character) => {
  const error = failureOf(() => splitWords(line));
  expect(error).toBeInstanceOf(RalphError);
  expect({ ...error, message: error.message }).toMatchObject({
    message: `cannot split into words: ${line}`,
    code: "words_invalid",
    exitCode: 2,
    hint: `the quote or backslash at character ${character} is never closed`,
  });
});

test("a line is split the same way after a failure", () => {
  failureOf(() => splitWords("a b 'c"));
  expect(splitWords("a b")).toEqual(["a", "b"]);
});

test("words in single quotes come back as they were", () => {
  const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), (words) => {
      expect(splitWords(words.map(quote).join(" "))).toEqual(words);
    }),
  );
});

function failureOf(act: () => unknown): RalphError {
  try {
    act();
  } catch (error) {
    return error as RalphError;
  }
  throw new Error("it did not fail");
}

test.each([
  ["/home/me/shop-worktrees/a_b.c", "/home/me/shop-worktrees/a_b.c"],
  ["a b", "'a b'"],
  ["it's $(x)", "'it'\\''s $(x)'"],
  ["", "''"],
])("quotes %j", (word, quoted) => {
  expect(quoteWord(word)).toBe(quoted);
});

test("what is quoted is one word again", () => {
  fc.assert(
    fc.property(fc.string(), (word) => {
      expect(splitWords(quoteWord(word))).toEqual([word]);
    }),
  );
});
