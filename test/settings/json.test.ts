import { expect, test } from "vitest";
import { readJsonText } from "../../src/settings/json.js";

const MISTAKES: [text: string, line: number, column: number, found: string][] = [
  ["", 1, 1, "end of file"],
  ["yes", 1, 1, "yes"],
  ["{'a': 1}", 1, 2, "'"],
  ["{a: 1}", 1, 2, "a"],
  ['{"a" 1}', 1, 6, "1"],
  ['{"a": 1,}', 1, 9, "}"],
  ['{"a": NaN}', 1, 7, "NaN"],
  ["// mine\n{}", 1, 1, "/"],
  ['{\r\n  "a": "open\r\n}', 2, 8, '"'],
  ['{"a": "\\x"}', 1, 7, '"'],
  ['{"a": "\u007f\u0085", "b": }', 1, 18, "}"],
  ['{"ä": 1, "b": 😀}', 1, 15, "😀"],
];

test.each(MISTAKES)("the mistake in %j", (text, line, column, found) => {
  expect(readJsonText(text, true).mistake).toBe(`unexpected ${found} at line ${line}, column ${column}`);
});
