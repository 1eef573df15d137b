import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GateFinding } from "../../../../src/recipes/pipeline/gates/gate.js";
import { checkPrp, criterionIds } from "../../../../src/recipes/pipeline/gates/prp.js";
import { criteriaIn, stressTest, validate } from "../../../../src/recipes/pipeline/gates/spec-gates.js";

const EXAMPLE = join(import.meta.dirname, "../../../../examples/recipe-saver");
const SPEC = readFileSync(join(EXAMPLE, "specs/recipe-saver.md"), "utf8");
const PRP = readFileSync(join(EXAMPLE, "PRPs/recipe-saver.prp.md"), "utf8");

const told = (findings: GateFinding[]): string[] =>
  findings.map(({ line, level, message }) => `${line} ${level}: ${message}`);
const errors = (findings: GateFinding[]): string[] => told(findings.filter(({ level }) => level === "error"));
const spec = (from: string | RegExp, to: string): string => SPEC.replace(from, to);

describe("stress-test", () => {
  it("finds nothing in a complete spec", () => {
    expect(stressTest("s.md", SPEC)).toEqual([]);
  });

  it.each([
    [
      '1 error: no problem section: add "## Problem" and say what is wrong today',
      spec("## Problem", "## Story"),
    ],
    [
      '3 error: "Problem" says nothing: say what is wrong today, and for whom',
      spec(/## Problem\n\n.*\n/, "## Problem\n\n"),
    ],
    [
      '1 error: no success or acceptance criteria: add "## Success criteria" with a list',
      spec("## Success criteria", "## Wishes"),
    ],
    [
      "1 error: only 8 words, and at least 100 are needed",
      "# S\n\n## Problem\n\nbad\n\n## Acceptance criteria\n\n1. returns 1\n",
    ],
  ])("says %s", (message, text) => {
    expect(errors(stressTest("s.md", text))).toContain(message);
  });

  it("warns of what should be there, and still passes", () => {
    const text = spec("## Scope", "## Limits")
      .replace("## Verification", "## Notes")
      .replace("plain text", "fast text");
    expect(told(stressTest("s.md", text))).toEqual([
      "1 warning: no scope section: say what is out of scope",
      "1 warning: no verification section: say how to check the result",
      '9 warning: "fast" is vague: say how to measure it',
    ]);
  });
});

describe("reading Markdown", () => {
  it.each([
    ["a byte order mark", "\ufeff# S\n\n## Success criteria\n\n- returns 1\n", [5]],
    ["front matter", "---\ntitle: x\n---\n# S\n\n## Success criteria\n\n- returns 1\n", [8]],
    ["a comment", "## Success criteria\n\n<!--\n- returns 1\n-->\n- returns 2\n", [6]],
    ["bold criteria", "## Success criteria\n\n**SC-1:** returns 1\n**SC-2** returns 2\n", [3, 4]],
  ])("criteria are found with %s", (_, text, lines) => {
    expect(criteriaIn(text).map(({ line }) => line)).toEqual(lines);
  });
});

describe("validate", () => {
  const withCriterion = (criterion: string): string => spec(/- SC-1: .*/, `- SC-1: ${criterion}`);

  it("finds nothing in a clear spec", () => {
    expect(validate("s.md", SPEC)).toEqual([]);
  });

  it.each([
    ["saves recipes properly", '"properly" is ambiguous: say what you mean'],
    ["returns all recipes", '"all" has no limit: say which, or how many'],
    ["the search is fast", 'nothing could measure "fast": give a figure, or say what one can observe'],
    ["cooking joy", "this cannot be measured: give a figure, or say what can be observed when it is met"],
  ])("refuses the criterion: %s", (criterion, message) => {
    expect(errors(validate("s.md", withCriterion(criterion)))).toEqual([`13 error: ${message}`]);
  });

  it.each([
    "the search is fast: 100 results within 50 ms",
    "returns all 12 months",
    "returns all fields listed below",
    "prints `saved`",
    "users can log in with email and password",
    "an error message appears",
    "the cursor is in the search field",
    "nothing is written to the disk at all, 0 files are created",
  ])("accepts the criterion: %s", (criterion) => {
    expect(errors(validate("s.md", withCriterion(criterion)))).toEqual([]);
  });
});

describe("check", () => {
  const prp = (from: string | RegExp, to: string): string => PRP.replace(from, to);

  it("finds nothing in a whole PRP", () => {
    expect(checkPrp("p.md", PRP, { file: "s.md", text: SPEC })).toEqual([]);
    expect(criterionIds(PRP)).toEqual(["SC-1", "SC-2", "SC-3"]);
  });

  it.each([
    [
      '1 error: the title is not "# PRP-…", such as # PRP-2026-01-26-001',
      prp("# PRP-2026-01-26-001", "# Recipes"),
    ],
    ['1 error: no section "Meta"', prp("## Meta", "## About")],
    [
      '26 error: "4. Functional requirements" names no requirement: FR-1, FR-2 … are needed',
      prp(/FR-/g, "R"),
    ],
    ['1 error: no phase: add "## Phase 1: …" with its deliverables', prp("## Phase 1: ", "## ")],
    [
      '14 error: "2. Success Criteria" names no criterion: a table with SC-1, SC-2 … is needed',
      prp(/SC-/g, "C"),
    ],
    ["19 error: SC-1 appears twice: see line 18, too", prp("| SC-2 |", "| SC-1 |")],
    ['19 error: SC-2 does not say its source line, such as "line 11"', prp("line 14", "the spec")],
  ])("says %s", (message, text) => {
    expect(errors(checkPrp("p.md", text))).toContain(message);
  });

  it("sees criteria that got lost, and a problem in other words", () => {
    const text = prp(/\| SC-3.*\n/, "").replace("Home cooks find", "Cooks find");
    expect(told(checkPrp("p.md", text, { file: "s.md", text: SPEC }))).toEqual([
      "10 warning: the problem section does not quote s.md",
      "14 error: s.md has 3 criteria, and this file has 2",
    ]);
  });
});
