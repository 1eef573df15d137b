import type { StoryReport } from "../../records/stories.js";
import {
  isAtCap,
  isDone,
  iterationsLeft,
  modeOf,
  nextStory,
  openStories,
  type ReviewRules,
  stateOf,
} from "./state.js";
import type { TaskList } from "./tasks.js";

/** Where the stories stand; `spent`: what each of them took, where it is asked for. */
export function boardOf(
  tasks: TaskList,
  rules: ReviewRules,
  run: string | null,
  spent?: Map<string, StoryReport>,
) {
  const { project, branchName, userStories } = tasks;
  const left = openStories(tasks, rules).length;
  const mode = modeOf(tasks, rules);
  const stories = userStories.map((story) => {
    const { id, title, priority, reviewCount: reviews, dependsOn = [] } = story;
    const [state, done, atCap] = [stateOf(story, rules), isDone(story, rules), isAtCap(story)];
    const own = { story: id, title, priority, state, done, reviews, atCap, dependsOn };
    if (spent === undefined) return own;
    const { iterations = 0, costUsd = null, durationMs = 0, violations = 0 } = spent.get(id) ?? {};
    return { ...own, iterations, costUsd, durationMs, violations };
  });
  return {
    v: 1 as const,
    project,
    branchName,
    stories,
    next: left === 0 ? null : { mode, story: nextStory(tasks, mode, rules)?.id ?? null },
    budget: { stories: left, iterations: iterationsLeft(tasks, rules) },
    reviewCap: rules.reviewCap,
    run,
  };
}
