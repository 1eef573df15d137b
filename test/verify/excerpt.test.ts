import { describe, expect, it } from "vitest";
import {
  beginning,
  createExcerpt,
  ending,
  firstFailure,
  oneLine,
  readable,
} from "../../src/verify/excerpt.js";

describe("readable output", () => {
  it.each<[string, string, string]>([
    ["colours", "\u001b[31mred\u001b[0m\n", "red\n"],
    ["links", "\u001b]8;;http://x\u0007here\u001b]8;;\u0007", "here"],
    ["the earlier states of a line that was redrawn", " 10%\r 50%\r100%\ndone", "100%\ndone"],
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
    ["abcdef", 2, "ab", "ef"],
    ["😀😀", 3, "😀", "😀"],
    ["a😀b", 2, "a", "b"],
  ])("of %j in %i characters begins with %j or ends with %j", (text, chars, first, last) => {
    expect([beginning(text, chars), ending(text, chars)]).toEqual([first, last]);
  });

  it.each<[string, string]>([
    ["\n\n  one  \ntwo", "one"],
    ["one line that is long", "one line…"],
    ["a😀😀😀😀😀", "a😀😀😀…"],
  ])("of %j in one line is %j", (text, line) => {
    expect(oneLine(text, 9)).toBe(line);
  });
});

const NODE = [
  "TAP version 13",
  "ok 1 - handles an error",
  "not ok 2 - adds",
  "  ---",
  "  error: |-",
  "    Expected values to be strictly equal:",
  "    3 !== 4",
  "  stack: |-",
  "    at TestContext.<anonymous> (file:///t.mjs:3:1)",
  "  ...",
  "ok 3 - subtracts",
  "not ok 4 - divides # TODO",
  "# tests 4",
  "# fail 1",
].join("\n");

const VITEST = [
  " ✓ test/a.test.ts (2 tests) 3ms",
  "   × adds 4ms",
  " FAIL  test/b.test.ts > adds",
  "AssertionError: expected 3 to be 4",
  "",
  "- Expected",
  "+ Received",
  "",
  "- 4",
  "+ 3",
  "",
  "Tests  1 failed | 2 passed (3)",
].join("\n");

const PYTEST = [
  "test_a.py .F [100%]",
  ">       assert add(1, 2) == 4",
  "E       assert 3 == 4",
  "test_a.py:4: AssertionError",
  "=== short test summary info ===",
  "FAILED test_a.py::test_add - assert 3 == 4",
  "1 failed, 1 passed in 0.03s",
].join("\n");

const TSC = "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.";
const NOISE = Array.from({ length: 500 }, (_, index) => `step ${index}`).join("\n");

function excerpt(output: string, chars: number): string {
  const made = createExcerpt(chars, (text) => text);
  for (const line of output.split("\n")) made.add(line);
  return made.result(output, true);
}

describe("an excerpt of an output", () => {
  it("is all of it, as it is, where it has room", () => {
    expect(excerpt(VITEST, 1000)).toBe(VITEST);
  });

  it.each<[string, string, string[]]>([
    ["node:test", NODE, ["not ok 2 - adds", "    3 !== 4"]],
    ["vitest", VITEST, [" FAIL  test/b.test.ts > adds", "- 4", "+ 3"]],
    ["pytest", PYTEST, ["E       assert 3 == 4", "FAILED test_a.py::test_add - assert 3 == 4"]],
    ["tsc", TSC, [TSC]],
  ])("of %s names the failures before the end, and never the beginning alone", (_, output, named) => {
    const lines = excerpt(`begin\n${NOISE}\n${output}\n${NOISE}\nend`, 1000).split("\n");
    expect(lines.slice(0, lines.indexOf("... [truncated]"))).toEqual(expect.arrayContaining(named));
    expect(lines.at(-1)).toBe("end");
    expect(lines).not.toContain("begin");
  });

  it("leaves out what is well, and the frames of a stack", () => {
    const [named] = excerpt(`${NODE}\n${NOISE}`, 1000).split("... [truncated]");
    expect(named).not.toMatch(/ok 1|subtracts|divides|TestContext/);
  });

  it("names a test that is named again and again before the end once, and is no longer than it may be", () => {
    const output = excerpt(`${NOISE}\n${`FAILED a\n${NOISE}\n`.repeat(9)}FAILED a`, 400);
    expect(output).toMatch(/^FAILED a\n\.\.\. \[truncated\]\n/);
    expect(output.length).toBeLessThanOrEqual(400 + "... [truncated]\n".length);
  });
});

describe("the first failure", () => {
  it.each<[string, string, string | undefined]>([
    ["node:test", NODE, "not ok 2 - adds"],
    ["vitest", VITEST, "× adds 4ms"],
    ["tsc", TSC, TSC],
    ["nothing that failed", "ok 1 - error\n0 errors", undefined],
  ])("of %s is %s", (_, output, line) => {
    expect(firstFailure(`noise\n${output}`)).toBe(line);
  });
});
