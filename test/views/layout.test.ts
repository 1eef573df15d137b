import { expect, test } from "vitest";
import { cut, screenText, tableLines, wrap } from "../../src/views/layout.js";

test.each<[string, number, string]>([
  ["abcdef", 6, "abcdef"],
  ["abcdef", 5, "abcd…"],
  ["abc def", 5, "abc…"],
  ["日本語", 5, "日本…"],
  ["日本語", 4, "日…"],
  ["abc", 1, "…"],
  ["abc", 0, ""],
])("%j in %i columns is %j", (text, columns, shown) => {
  expect(cut(text, columns)).toBe(shown);
});

test.each<[string, number, string[]]>([
  ["one two three", 7, ["one two", "three"]],
  ["/a/very/long/path is here", 8, ["/a/very/long/path", "is here"]],
  ["", 5, [""]],
  ["  spaces   and\nlines ", 10, ["spaces and", "lines"]],
])("%j is broken into %i columns", (text, columns, lines) => {
  expect(wrap(text, columns)).toEqual(lines);
});

test.each<[string, string, string]>([
  ["colours and titles", "\u001b[31mred\u001b[0m \u001b]0;owned\u0007x", "red x"],
  ["clearing the screen", "a\u001b[2J\u001b[Hb\u009b2Jc", "abc"],
  ["the direction of writing", "a\u202eb\u2066c\u200f", "abc"],
  ["what has no end", "x".repeat(10_000_000), "x".repeat(2000)],
])("foreign text on a screen loses %s", (_, text, shown) => {
  expect(screenText(text)).toBe(shown);
});

const ROWS = [
  ["NAME", "COUNT", "PATH"],
  ["a", "7", "/home/日本/work/project"],
  ["long name again", "1234", ""],
];

test.each<[string, object, string[]]>([
  [
    "as wide as their widest cells, numbers to the right",
    { right: [1] },
    [
      "NAME             COUNT  PATH",
      "a                    7  /home/日本/work/project",
      "long name again   1234",
    ],
  ],
  [
    "cut in the last column by a narrow terminal",
    { width: 36 },
    ["NAME             COUNT  PATH", "a                7      /home/日本/…", "long name again  1234"],
  ],
  [
    "cut in another column where that is said",
    { width: 38, elastic: 0, mark: "..." },
    ["NAME        COUNT  PATH", "a           7      /home/日本/work/...", "long na...  1234"],
  ],
  [
    "cut in the widest columns where that is not enough",
    { width: 18 },
    ["NAME   COUNT  PATH", "a      7      /ho…", "long…  1234"],
  ],
])("columns of a table are %s", (_, options, lines) => {
  expect(tableLines(ROWS, options)).toEqual(lines);
});
