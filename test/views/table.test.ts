import { expect, test } from "vitest";
import { tableLines } from "../../src/views/table.js";

const ROWS = [
  ["NAME", "COUNT", "PATH"],
  ["a", "7", "/home/somebody/work/project"],
  ["long name", "1234", ""],
];

test("columns are as wide as their widest cell, numbers stand to the right", () => {
  expect(tableLines(ROWS, { elastic: 2, keep: "end", right: [1] })).toEqual([
    "NAME       COUNT  PATH",
    "a              7  /home/somebody/work/project",
    "long name   1234",
  ]);
});

test.each([
  ["end", "a              7  …y/work/project"],
  ["start", "a              7  /home/somebody…"],
] as const)("a narrow terminal cuts one column and keeps its %s", (keep, line) => {
  const lines = tableLines(ROWS, { width: 33, elastic: 2, keep, right: [1] });
  expect(lines[1]).toBe(line);
  expect(Math.max(...lines.map(({ length }) => length))).toBe(33);
});

test("a column is never cut to nothing", () => {
  expect(tableLines(ROWS, { width: 5, elastic: 2, keep: "start" })[1]).toBe("a          7      /home/som…");
});
