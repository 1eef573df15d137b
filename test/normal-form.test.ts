import { expect, test } from "vitest";
import { normalForm } from "../src/verify/no-tests.js";

test.each([
  ["numbers of lines", "src/a.ts:10:5 - error", "src/a.ts:12:7 - error"],
  ["the time it took", "Tests 3 failed in 1.52s", "Tests 3 failed in 12.9s"],
  ["the time of day", "[14:03:11] FAIL", "[14:05:59] FAIL"],
  ["addresses", "at 0x7ffd12ab main", "at 0x55e0ff01 main"],
  ["hashes", "commit 9f8e7d6c5b4a", "commit 1a2b3c4d5e6f7a8b"],
  ["temporary folders", "ENOENT /tmp/pytest-of-me/x1/out.txt", "ENOENT /tmp/pytest-of-me/abc/other.txt"],
  ["the folders of a path", "/home/a/p/src/x.ts failed", "/srv/ci/src/x.ts failed"],
  ["colours", "\u001b[31mFAIL\u001b[39m x", "FAIL x"],
])("%s make no difference", (_, one, other) => {
  expect(normalForm(one)).toBe(normalForm(other));
});

test.each([
  ["another test", "FAIL a.test.ts", "FAIL b.test.ts"],
  ["another file of the same folder", "/home/a/x.ts failed", "/home/a/y.ts failed"],
  ["another message", "expected a", "expected b"],
])("%s does", (_, one, other) => {
  expect(normalForm(one)).not.toBe(normalForm(other));
});
