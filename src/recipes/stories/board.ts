import type { StoryReport } from "../../records/stories.js";
import type { Board, BoardStory } from "../../views/board.js";
import { isAtCap, iterationsLeft, stateOf } from "./story-state.js";
import { isDone, modeOf, nextStory, type ReviewRules, type Story, type TaskList } from "./tasks.js";

export interface BoardOptions extends ReviewRules {
  run: string | null;
  /** What each story took; undefined: nobody asked. */
  spent?: Map<string, StoryReport> | undefined;
}

export function boardOf(tasks: TaskList, { run, spent, ...rules }: BoardOptions): Board {
  const { project, branchName, userStories } = tasks;
  const left = userStories.filter((story) => !isDone(story, rules));
  const mode = modeOf(tasks, rules);
  return {
    v: 1,
    project,
    branchName,
    stories: userStories.map((story) => boardStory(story, rules, spent)),
    next: left.length === 0 ? null : { mode, story: nextStory(tasks, mode, rules)?.id ?? null },
    budget: { stories: left.length, iterations: iterationsLeft(tasks, rules) },
    reviewCap: rules.reviewCap,
    run,
  };
}

function boardStory(story: Story, rules: ReviewRules, spent: BoardOptions["spent"]): BoardStory {
  const { id, title, priority, reviewCount: reviews, dependsOn = [] } = story;
  const own = {
    story: id,
    title,
    priority,
    state: stateOf(story, rules),
    done: isDone(story, rules),
    reviews,
    atCap: isAtCap(story),
    dependsOn,
  };
  if (spent === undefined) return own;
  const { iterations = 0, costUsd = null, durationMs = 0, violations = 0 } = spent.get(id) ?? {};
  return { ...own, iterations, costUsd, durationMs, violations };
}
