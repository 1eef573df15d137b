import { describe, expect, it } from "vitest";
import { createFormatter } from "../../../src/views/figures.js";
import { htmlReport } from "../../../src/views/report/html.js";
import { annotations, markdownReport, stepSummary } from "../../../src/views/report/markdown.js";
import { textReport } from "../../../src/views/report/text.js";
import { check, demo, iteration, report } from "./samples.js";

const stopped = { success: false, reason: "max_iterations", exitCode: 1 } as const;

it("a report names the lane of each iteration, where the run has lanes", () => {
  const of = (lane: string) =>
    [1, 2].map((number) => iteration(number, { lane, checks: [check("npm test")] }));
  const lanes = report({ iterations: [...of("US-001"), ...of("US-002")] });
  const text = textReport(lanes, createFormatter({ useEmoji: true, useColor: false }), 80);
  expect(text).toContain("  #  TIME  COST  TOKENS  CHECKS  LANE    OUTCOME");
  expect(text).toContain("  2  1m0s     -       -     1/1  US-002  completed");
  expect(markdownReport(lanes)).toContain("| 2 | 1m0s | - | - | 1/1 | US-002 | completed |");
  const page = htmlReport(lanes);
  const ids = [...page.matchAll(/ id="(iteration-[^"]+)"/g)].map(([, id]) => id);
  expect(ids).toEqual(["US-001-1", "US-001-2", "US-002-1", "US-002-2"].map((id) => `iteration-${id}`));
  for (const id of ids) expect(page).toContain(`href="#${id}"`);
  for (const said of ["<b>Iteration 2 of US-002</b>", 'title="iteration 2 of US-002: '])
    expect(page).toContain(said);
  expect(markdownReport(demo)).not.toContain("lane");
});

describe("annotations", () => {
  it("tell success as a notice", () => {
    expect(annotations(demo)).toEqual(["::notice title=ralph::Completed"]);
  });

  it("tell a worker that did all of its iterations as its window does", () => {
    const all = report({ ...stopped, exitCode: 0 });
    const title = "Stopped after 0 of 0 iterations; nothing was verified";
    expect(annotations(all)).toEqual([`::notice title=ralph::${title}`]);
    expect(markdownReport(all)).toMatch(new RegExp(`^# ⚠️ ${title}\n`));
    expect(htmlReport(all)).toContain(`–</span> <span>${title}</span>`);
    const [first] = textReport(all, createFormatter({ useEmoji: true, useColor: false }), 80);
    expect(first).toBe(`⚠️ ${title}`);
  });
});

describe("the summary of a step", () => {
  const MIB = 1024 * 1024;
  const long = report({
    ...stopped,
    iterations: Array.from({ length: 100 }, (_, index) =>
      iteration(index + 1, {
        finalMessage: "é".repeat(4000),
        checks: ["a", "b", "c"].map((name) => check(name, { passed: false, output: "✗".repeat(3000) })),
      }),
    ),
  });

  it("is the whole report where it fits", () => {
    expect(stepSummary(demo, 0)).toBe(markdownReport(demo));
  });

  it.each([0, 500_000])(
    "is cut behind an iteration where it does not, after %i bytes of another one",
    (before) => {
      const text = stepSummary(long, before);
      expect(Buffer.byteLength(markdownReport(long))).toBeGreaterThan(MIB);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MIB - before);
      expect(Buffer.byteLength(text)).toBeGreaterThan(MIB - before - 50_000);
      expect(text.match(/<details>/g)).toHaveLength(text.match(/<\/details>/g)?.length ?? 0);
      expect(text).toMatch(/<\/details>\n\nThe rest is cut: .*\n$/);
    },
  );

  it("is empty where nothing more fits", () => {
    expect(stepSummary(demo, MIB - 10)).toBe("");
  });
});
