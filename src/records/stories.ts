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
  for (const iteration of iterations) {
    const about = iteration.states.find(({ story }) => story !== null)?.story ?? iteration.about;
    if (about !== null) addIteration(storyIn(stories, about), iteration);
    for (const { story, title, to, reviews, atCap } of iteration.states) {
      if (story === null) continue;
      Object.assign(storyIn(stories, story), { title: title ?? "", state: to, reviews: reviews ?? 0, atCap });
    }
  }
  return [...stories.values()];
}

function storyIn(stories: Map<string, StoryReport>, story: string): StoryReport {
  const known = stories.get(story) ?? {
    story,
    title: "",
    state: null,
    reviews: 0,
    atCap: false,
    iterations: 0,
    costUsd: null,
    durationMs: 0,
    violations: 0,
  };
  stories.set(story, known);
  return known;
}

function addIteration(story: StoryReport, { costUsd, durationMs, violations }: IterationReport): void {
  story.iterations += 1;
  story.durationMs += durationMs;
  story.violations += violations.length;
  if (costUsd !== null) story.costUsd = sumOfCosts(story.costUsd, costUsd);
}

/** The same of several runs. */
export function addStories(reports: StoryReport[][]): Map<string, StoryReport> {
  const all = new Map<string, StoryReport>();
  for (const { story, iterations, costUsd, durationMs, violations } of reports.flat()) {
    const sum = storyIn(all, story);
    sum.iterations += iterations;
    sum.durationMs += durationMs;
    sum.violations += violations;
    if (costUsd !== null) sum.costUsd = sumOfCosts(sum.costUsd, costUsd);
  }
  return all;
}
