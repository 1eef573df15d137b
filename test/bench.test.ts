import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const PAGE = readFileSync(join(ROOT, "docs/performance.md"), "utf8");

it("no ratio of the start or of the loop is far over its limit, and the page has each of them", () => {
  const words = [join(ROOT, "bench/bench.mjs"), "--quick", "start", "loop"];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const measured = stdout
    .trim()
    .split("\n")
    .map((line) => /^(?:ok {2}|OVER) (.+?) {2,}.*\((.+)\)$/.exec(line)?.slice(1));
  const told = PAGE.split("\n")
    .map((line) => line.split(" | "))
    .map(([what, , , limit]) => [what?.slice(2), limit]);
  expect(measured.length).toBeGreaterThan(5);
  expect(told).toEqual(expect.arrayContaining(measured));
});
