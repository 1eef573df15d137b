import { expect, test } from "vitest";
import { wrap } from "../../src/views/wrap.js";

test.each<[string, number | undefined, string[]]>([
  ["one two three", undefined, ["one two three"]],
  ["one two three", 7, ["one two", "three"]],
  ["one two three", 6, ["one", "two", "three"]],
  ["/a/very/long/path is here", 8, ["/a/very/long/path", "is here"]],
  ["", 5, [""]],
  ["  spaces   and\nlines ", 10, ["spaces and", "lines"]],
])("%j in %s columns", (text, room, lines) => {
  expect(wrap(text, room)).toEqual(lines);
});
