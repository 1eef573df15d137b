import { describe, expect, it } from "vitest";
import type { IterationReport } from "../../../src/records/iteration.js";
import { storiesOf } from "../../../src/records/report.js";
import { iteration } from "../../views/report/samples.js";

const moved = (story: string, to: string, reviews: number, atCap = false): Partial<IterationReport> => ({
  about: story,
  states: [{ from: "x", to, story, title: `The <b>${story}</b>`, reviews, atCap }],
  costUsd: 0.5,
  durationMs: 1000,
});
const ITERATIONS = [
  iteration(1, moved("A", "needs_review", 0)),
  iteration(2, {
    about: "A",
    durationMs: 1000,
    violations: [{ what: "A was approved | by its maker", story: "A", file: null }],
  }),
  iteration(3, { ...moved("A", "approved", 5, true), mode: "review", agent: "codex" }),
  iteration(4, { ...moved("B", "needs_review", 0), about: "C" }),
];
const STORIES = storiesOf(ITERATIONS);

describe("what each story took", () => {
  it("is counted by the story that moved, else by the one that was planned", () => {
    const a = {
      story: "A",
      title: "The <b>A</b>",
      state: "approved",
      reviews: 5,
      atCap: true,
      violations: 1,
    };
    const b = {
      story: "B",
      title: "The <b>B</b>",
      state: "needs_review",
      reviews: 0,
      atCap: false,
      violations: 0,
    };
    expect(STORIES).toEqual([
      { ...a, iterations: 3, costUsd: 1, durationMs: 3000 },
      { ...b, iterations: 1, costUsd: 0.5, durationMs: 1000 },
    ]);
  });
});
