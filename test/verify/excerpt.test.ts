import { describe, expect, it } from "vitest";
import { beginning, ending, oneLine, readable } from "../../src/verify/excerpt.js";

describe("readable output", () => {
  it.each<[string, string, string]>([
    ["colours", "\u001b[31mred\u001b[0m\n", "red\n"],
    ["links", "\u001b]8;;http://x\u0007here\u001b]8;;\u0007", "here"],
    ["CRLF", "a\r\nb\r\r\nc", "a\nb\nc"],
    ["the earlier states of a line that was redrawn", " 10%\r 50%\r100%\ndone", "100%\ndone"],
    ["a return at the end of a line", "100%\r", "100%"],
    ["control characters", "a\u0000b\u0008c\u007f", "abc"],
  ])("is without %s", (_, output, expected) => {
    expect(readable(output)).toBe(expected);
  });

  it.each(["", "\n", "a\tb\n\n  c", "日本語 😀 \u2028 é", "no line break"])(
    "leaves %j as it is",
    (output) => {
      expect(readable(output)).toBe(output);
    },
  );
});

describe("an excerpt", () => {
  it.each<[string, number, string, string]>([
    ["abcdef", 6, "abcdef", "abcdef"],
    ["abcdef", 2, "ab", "ef"],
    ["abcdef", 0, "", ""],
    ["", 3, "", ""],
    ["😀😀", 3, "😀", "😀"],
    ["a😀b", 2, "a", "b"],
  ])("of %j in %i characters begins with %j or ends with %j", (text, chars, first, last) => {
    expect([beginning(text, chars), ending(text, chars)]).toEqual([first, last]);
  });

  it.each<[string, string]>([
    ["one", "one"],
    ["\n\n  one  \ntwo", "one"],
    ["one line that is long", "one line…"],
    ["a😀😀😀😀😀", "a😀😀😀…"],
    ["", ""],
  ])("of %j in one line is %j", (text, line) => {
    expect(oneLine(text, 9)).toBe(line);
  });
});
