import type { Story, TaskList } from "../../../src/recipes/stories/tasks.js";

export function story(id = "US-001", more: Partial<Story> = {}): Story {
  return {
    id,
    title: `Title of ${id}`,
    description: "",
    acceptanceCriteria: ["it works"],
    priority: 1,
    passes: false,
    reviewStatus: null,
    reviewCount: 0,
    reviewFeedback: "",
    notes: "",
    dependsOn: [],
    ...more,
  };
}

export function tasks(...userStories: Story[]): TaskList {
  return { project: "p", branchName: "ralph/x", description: "d", verifyCommands: [], userStories };
}

export const WAITING: Partial<Story> = { reviewStatus: "needs_review", notes: "did it" };
export const REJECTED: Partial<Story> = {
  reviewStatus: "changes_requested",
  reviewFeedback: "fix line 3",
  reviewCount: 1,
  notes: "did it",
};
export const APPROVED: Partial<Story> = {
  reviewStatus: "approved",
  passes: true,
  reviewCount: 1,
  notes: "did it",
};
