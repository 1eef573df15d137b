import { describe, expect, it } from "vitest";
import { createFormatter } from "../../../src/views/format.js";
import { annotations, stepSummary } from "../../../src/views/report/github.js";
import { htmlReport } from "../../../src/views/report/html.js";
import { markdownReport } from "../../../src/views/report/markdown.js";
import { textReport } from "../../../src/views/report/text.js";
import { check, demo, iteration, report } from "./samples.js";

const stopped = { success: false, reason: "max_iterations", exitCode: 1 } as const;

describe("annotations", () => {
  it("tell success as a notice", () => {
    expect(annotations(demo)).toEqual(["::notice title=ralph::Completed"]);
  });

  it("tell a worker that did all of its iterations as its window does", () => {
    const all = report({ ...stopped, exitCode: 0 });
    const title = "Done: as many iterations as were asked for, and nothing was verified";
    expect(annotations(all)).toEqual([`::notice title=ralph::${title}`]);
    expect(markdownReport(all)).toMatch(new RegExp(`^# ✅ ${title}\n`));
    expect(htmlReport(all)).toContain(`✓</span> <span>${title}</span>`);
    const [first] = textReport(all, createFormatter({ useEmoji: true, useColor: false }), 80);
    expect(first).toBe(`✅ ${title}`);
  });

  it("tell the reason, and every check that failed in the last finished iteration", () => {
    const failed = { passed: false, output: "a.js:1:2 100% wrong\n  at b, c\n" };
    const iterations = [
      iteration(1, { checks: [check("earlier", { passed: false })] }),
      iteration(2, {
        checks: [check("npm test", failed), check("lint"), check("quiet", { ...failed, output: " " })],
      }),
      iteration(3, { finished: false }),
    ];
    expect(annotations(report({ ...stopped, message: "2 of 3, 50%", iterations }))).toEqual([
      "::error title=ralph::Stopped: the maximum number of iterations was reached: 2 of 3, 50%25",
      "::error title=npm test (exit 1)::a.js:1:2 100%25 wrong%0A  at b, c",
      "::error title=quiet (exit 1)::no output",
    ]);
  });

  it("are one line each, whatever a check is called and prints", () => {
    const hostile = check("a\n::error::b, c: 5% \u001b[31m", {
      passed: false,
      output: "x\r\n::set-output name=a::b\n##[add-mask]c\u0007",
    });
    const lines = annotations(report({ ...stopped, iterations: [iteration(1, { checks: [hostile] })] }));
    expect(lines[1]).toBe(
      "::error title=a %3A%3Aerror%3A%3Ab%2C c%3A 5%25 (exit 1)::x%0A::set-output name=a::b%0A##[add-mask]c",
    );
  });

  it("say what stopped a run without an iteration", () => {
    expect(annotations(report({ ...stopped, reason: "interrupted" }))).toEqual([
      "::error title=ralph::Interrupted",
    ]);
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
      expect(text).toMatch(/<\/details>\n\nThe rest is left out: .*\n$/);
    },
  );

  it("is empty where nothing more fits", () => {
    expect(stepSummary(demo, MIB - 10)).toBe("");
  });
});
