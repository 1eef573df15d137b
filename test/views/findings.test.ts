import { describe, expect, it, test } from "vitest";
import type { DoctorFinding } from "../../src/setup/doctor/context.js";
import { boardLines } from "../../src/views/board.js";
import { createFormatter } from "../../src/views/figures.js";
import { createDoctorLines } from "../../src/views/findings.js";

function lines(useEmoji: boolean, columns: number, useColor = false) {
  return createDoctorLines(createFormatter({ useEmoji, useColor }), columns);
}

const FINDINGS: DoctorFinding[] = [
  { name: "claude", status: "ok", message: "1.0 at /bin/claude" },
  { name: "codex", status: "ok", message: "not installed", installed: false },
  { name: "amp", status: "warning", message: "no sign of a login", fix: "amp login" },
  { name: "default", status: "problem", message: "a b ".repeat(10).trim(), fix: "c d ".repeat(10).trim() },
];

describe("what the doctor found", () => {
  it("has its names and messages in columns, with what to do below", () => {
    expect(lines(true, 48).group("agents", FINDINGS)).toEqual([
      "Agents",
      "  ✅ claude       1.0 at /bin/claude",
      "  -  codex        not installed",
      "  ⚠️ amp          no sign of a login",
      "                  →  amp login",
      "  ❌ default      a b a b a b a b a b a b a b a",
      "                  b a b a b",
      "                  →  c d c d c d c d c d c d c d",
      "                     c d c d c d",
      "",
    ]);
  });

  it.each<[DoctorFinding["status"][], string]>([
    [["ok"], "[OK] No problems, no warnings."],
    [["warning", "ok"], "[WARN] No problems, 1 warning."],
    [["problem", "warning", "problem"], "[ERR] 2 problems, 1 warning."],
  ])("is counted at the end: %j", (statuses, line) => {
    const findings = statuses.map((status) => ({ name: "n", status, message: "" }));
    expect(lines(false, 80).closing(findings)).toBe(line);
  });
});

test.each([
  [[2, 1, 0], "Reviews: 3 for 2 stories, 1.5 each"],
  [[2], "Reviews: 2 for 1 story, 2.0 each"],
  [[0], "Reviews: 0"],
])("the board says what reviews of %j were for", (reviews, expected) => {
  const of = { title: "t", priority: 1, state: "approved", done: true, atCap: false, dependsOn: [] } as const;
  const stories = reviews.map((count, at) => ({
    ...{ ...of, dependsOn: [], story: `US-${at}`, reviews: count, iterations: 1 },
    ...{ costUsd: null, durationMs: 0, violations: 0 },
  }));
  const about = { v: 1, project: "p", branchName: "b", next: null, reviewCap: 5, run: null } as const;
  const board = { ...about, stories, budget: { stories: 0, iterations: 0 } };
  const shown = boardLines(board, createFormatter({ useEmoji: false, useColor: false }), 80);
  expect(shown.filter((line) => line.includes("Reviews:"))).toEqual([expected]);
});
