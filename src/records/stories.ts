import { sumOfCosts } from "../cost.js";
import type { IterationReport } from "./iteration.js";

/** What was spent on one story, and what came of it. */
export interface StoryReport {
  story: string;
  title: string;
  /** Where it stood when it last moved; null: it has not. */
  state: string | null;
  reviews: number;
  /** It was approved because the review cap was reached. */
  atCap: boolean;
  iterations: number;
  costUsd: number | null;
  durationMs: number;
  violations: number;
}

/** In the order in which they were first worked on. */
export function storiesOf(iterations: IterationReport[]): StoryReport[] {
  const stories = new Map<string, StoryReport>();
  for (const { states, about: planned, violations, ...spent } of iterations) {
    const about = states.find(({ story }) => story !== null)?.story ?? planned;
    if (about !== null) add(stories, about, { ...spent, iterations: 1, violations: violations.length });
    for (const { story, title, to: state, reviews, atCap } of states) {
      if (story === null) continue;
      Object.assign(storyIn(stories, story), { title: title ?? "", state, reviews: reviews ?? 0, atCap });
    }
  }
  return [...stories.values()];
}

/** What several runs spent on each story. */
export function addStories(reports: StoryReport[][]): Map<string, StoryReport> {
  const all = new Map<string, StoryReport>();
  for (const report of reports.flat()) add(all, report.story, report);
  return all;
}

function storyIn(stories: Map<string, StoryReport>, story: string): StoryReport {
  const known = stories.get(story) ?? {
    ...{ story, title: "", state: null, reviews: 0, atCap: false },
    ...{ iterations: 0, costUsd: null, durationMs: 0, violations: 0 },
  };
  stories.set(story, known);
  return known;
}

type Spent = Pick<StoryReport, "iterations" | "costUsd" | "durationMs" | "violations">;

function add(stories: Map<string, StoryReport>, story: string, spent: Spent): void {
  const sum = storyIn(stories, story);
  sum.iterations += spent.iterations;
  sum.durationMs += spent.durationMs;
  sum.violations += spent.violations;
  if (spent.costUsd !== null) sum.costUsd = sumOfCosts(sum.costUsd, spent.costUsd);
}
