import { isAtCap, stateOf } from "./story-state.js";
import type { Story, TaskList } from "./tasks.js";

export interface SummaryFacts {
  /** What progress.txt held. */
  progress: string;
  today: string;
}

/** What a loop came to, as it is kept in the archive. */
export function summaryOf(tasks: TaskList, { progress, today }: SummaryFacts): string {
  const { project, branchName, description, userStories } = tasks;
  const done = userStories.filter(({ passes }) => passes).length;
  const started = /^Started:\s*(\S+)/m.exec(progress)?.[1] ?? "unknown";
  const reviews = userStories.reduce((sum, { reviewCount }) => sum + reviewCount, 0);
  const atCap = userStories.filter(isAtCap).map(({ id }) => id);
  return `${[
    `# ${project || branchName}`,
    ...(description === "" ? [] : [description]),
    [
      `- Stories: ${done} of ${userStories.length} completed`,
      `- Dates: ${started} to ${today}`,
      `- Branch: ${branchName}`,
      `- Reviews: ${reviews}`,
      `- Approved at the review cap: ${atCap.length === 0 ? "none" : atCap.join(", ")}`,
    ].join("\n"),
    ["| story | title | state | reviews |", "|---|---|---|--:|", ...userStories.map(row)].join("\n"),
  ].join("\n\n")}\n`;
}

function row(story: Story): string {
  const { id, title, reviewCount } = story;
  const state = stateOf(story, { skipReview: true });
  return `| ${cell(id)} | ${cell(title)} | ${state}${isAtCap(story) ? " (at the cap)" : ""} | ${reviewCount} |`;
}

function cell(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|");
}
