import { describe, expect, test } from "vitest";
import { cellsOf, cutTo, padTo, screenText } from "../../src/views/cells.js";

test.each<[string, number]>([
  ["", 0],
  ["abc", 3],
  ["日本", 4],
  ["한국", 4],
  ["ｆｕｌｌ", 8],
  ["✅ ok", 5],
  ["⚠ ok", 4],
  ["e\u0301", 1],
  ["…·❯", 3],
  ["🇩🇪", 2],
  ["䷀", 2],
])("%j takes %i columns", (text, cells) => {
  expect(cellsOf(text)).toBe(cells);
});

test.each<[string, number, string]>([
  ["abcdef", 6, "abcdef"],
  ["abcdef", 5, "abcd…"],
  ["abc def", 5, "abc…"],
  ["日本語", 5, "日本…"],
  ["日本語", 4, "日…"],
  ["abc", 1, "a"],
  ["日本", 1, ""],
  ["abc", 0, ""],
  ["abc", -1, ""],
])("%j in %i columns is %j", (text, cells, cut) => {
  expect(cutTo(text, cells)).toBe(cut);
});

test("a mark of several characters has its room", () => {
  expect([cutTo("abcdef", 5, "..."), cutTo("abcdef", 3, "...")]).toEqual(["ab...", "abc"]);
});

test("a column is filled up on either side, wide characters counted as two", () => {
  expect([padTo("日", 4), padTo("日", 4, "left"), padTo("abc", 2)]).toEqual(["日  ", "  日", "abc"]);
});

describe("text of somebody else", () => {
  test.each<[string, string, string]>([
    ["colours and titles", "\u001b[31mred\u001b[0m \u001b]0;owned\u0007x", "red x"],
    ["clearing the screen", "a\u001b[2J\u001b[Hb\u009b2Jc", "abc"],
    ["lines", "one\r\n\ttwo\u2028three\u0085four", "one two threefour"],
    ["the direction of writing", "a\u202eb\u2066c\u200f", "abc"],
    ["pictures made of several", "👩\u200d👧 ⚠\ufe0f", "👩👧 ⚠"],
    ["half a character", "a\ud800b", "a\ufffdb"],
    ["a tower of accents", `e${"\u0301".repeat(500)}x`, "e\u0301\u0301x"],
    ["what is not to be seen", "\ufeffa\u200bb\u00adc", "abc"],
  ])("loses %s", (_, text, shown) => {
    expect(screenText(text)).toBe(shown);
  });

  test("is not read to the end when it has no end", () => {
    expect(screenText("x".repeat(10_000_000)).length).toBe(2000);
  });
});
