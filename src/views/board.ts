import { formatDuration } from "../duration.js";
import { costCell, plural } from "./figures.js";
import type { Formatter } from "./format.js";
import { brief, harmlessLine } from "./harmless.js";
import { tableLines } from "./table.js";

/** Where the stories of a project stand. `ralph stories status --json` prints it as it is. */
export interface Board {
  v: 1;
  project: string;
  branchName: string;
  stories: BoardStory[];
  /** What comes next; null: all is done. */
  next: { mode: string; story: string | null } | null;
  /** Stories that are not done, and about how many iterations they take. */
  budget: { stories: number; iterations: number };
  reviewCap: number;
  /** The run that is at work. */
  run: string | null;
}

export interface BoardStory {
  story: string;
  title: string;
  priority: number;
  state: string;
  done: boolean;
  reviews: number;
  atCap: boolean;
  dependsOn: string[];
  /** Over all runs of this folder that ralph has records of. */
  iterations?: number;
  costUsd?: number | null;
  durationMs?: number;
  violations?: number;
}

/** The board as people read it in a terminal. */
export function boardLines(board: Board, { paint, mark }: Formatter, width: number | undefined): string[] {
  const { project, branchName, stories, next, budget, reviewCap, run } = board;
  const done = stories.filter((story) => story.done).length;
  const hasStatistics = stories.some(({ iterations }) => iterations !== undefined);
  const head = ["", "STORY", "STATE", "REVIEWS", ...(hasStatistics ? ["ITER", "COST", "TIME"] : []), "TITLE"];
  const rows = stories.map((story) => [
    story.done ? mark.pass : " ",
    story.story,
    story.state,
    `${story.reviews}${story.atCap ? " (cap)" : ""}`,
    ...(hasStatistics ? spent(story) : []),
    story.title,
  ]);
  const left = `${budget.stories} ${budget.stories === 1 ? "story" : "stories"} left`;
  return [
    paint("bold", harmlessLine(`${project || branchName}: ${done} of ${stories.length} stories done`)),
    "",
    ...tableLines([head, ...rows], { width, right: hasStatistics ? [3, 4, 5, 6] : [3] }),
    "",
    `Next:    ${next === null ? "nothing, all stories are done" : `${next.mode} ${brief(next.story ?? "")}`.trim()}`,
    `Budget:  ${left}, about ${plural(budget.iterations, "iteration")} (review cap ${reviewCap})`,
    ...(run === null ? [] : [`Run:     ${run} is at work`]),
    ...(hasStatistics ? statistics(stories) : []),
  ];
}

function spent({ iterations = 0, costUsd = null, durationMs = 0 }: BoardStory): string[] {
  return [String(iterations), costCell(costUsd), durationMs === 0 ? "-" : formatDuration(durationMs)];
}

/** What the reviews were worth: one each is little work, many are real findings, the cap is a question to a human. */
function statistics(stories: BoardStory[]): string[] {
  const reviewed = stories.filter(({ reviews }) => reviews > 0);
  const reviews = reviewed.reduce((sum, story) => sum + story.reviews, 0);
  const each = (reviews / reviewed.length).toFixed(1);
  const count = reviewed.length === 1 ? "1 story" : `${reviewed.length} stories`;
  const atCap = stories.filter((story) => story.atCap).map(({ story }) => harmlessLine(story));
  const violations = stories.reduce((sum, story) => sum + (story.violations ?? 0), 0);
  return [
    `Reviews: ${reviews}${reviewed.length === 0 ? "" : ` for ${count}, ${each} each`}`,
    `At cap:  ${atCap.length === 0 ? "none" : `${atCap.join(", ")} (look at these yourself)`}`,
    ...(violations === 0 ? [] : [`Broken rules: ${violations}`]),
  ];
}
