import { formatDuration } from "../duration.js";
import { formatCost } from "./figures.js";
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
export function boardLines(board: Board, format: Formatter, width: number | undefined): string[] {
  const { project, branchName, stories } = board;
  const done = stories.filter((story) => story.done).length;
  return [
    format.paint("bold", harmlessLine(`${project || branchName}: ${done} of ${stories.length} stories done`)),
    "",
    ...table(stories, format, width),
    "",
    ...facts(board),
    ...statistics(stories),
  ];
}

function table(stories: BoardStory[], { mark }: Formatter, width: number | undefined): string[] {
  const withStats = stories.some(({ iterations }) => iterations !== undefined);
  const head = ["", "STORY", "STATE", "REVIEWS", ...(withStats ? ["ITER", "COST", "TIME"] : []), "TITLE"];
  const rows = stories.map((story) => [
    story.done ? mark.pass : " ",
    story.story,
    story.state,
    `${story.reviews}${story.atCap ? " (cap)" : ""}`,
    ...(withStats ? spent(story) : []),
    story.title,
  ]);
  const right = withStats ? [3, 4, 5, 6] : [3];
  return tableLines([head, ...rows], { width, right });
}

function spent({ iterations = 0, costUsd = null, durationMs = 0 }: BoardStory): string[] {
  return [
    String(iterations),
    costUsd === null ? "-" : formatCost(costUsd),
    durationMs === 0 ? "-" : formatDuration(durationMs),
  ];
}

function facts({ next, budget, reviewCap, run }: Board): string[] {
  const { stories, iterations } = budget;
  return [
    next === null ? "Next:    nothing, all stories are done" : `Next:    ${nextText(next)}`,
    `Budget:  ${stories} ${stories === 1 ? "story" : "stories"} left, about ${iterations} ${iterations === 1 ? "iteration" : "iterations"} (review cap ${reviewCap})`,
    ...(run === null ? [] : [`Run:     ${run} is at work`]),
  ];
}

function nextText({ mode, story }: NonNullable<Board["next"]>): string {
  return story === null ? mode : `${mode} ${brief(story)}`;
}

/** What the reviews were worth: one each is little work, many are real findings, the cap is a question to a human. */
function statistics(stories: BoardStory[]): string[] {
  if (!stories.some(({ iterations }) => iterations !== undefined)) return [];
  const reviewed = stories.filter(({ reviews }) => reviews > 0);
  const reviews = reviewed.reduce((sum, story) => sum + story.reviews, 0);
  const atCap = stories.filter((story) => story.atCap).map(({ story }) => harmlessLine(story));
  const violations = stories.reduce((sum, story) => sum + (story.violations ?? 0), 0);
  return [
    `Reviews: ${reviews}${reviewed.length === 0 ? "" : ` for ${reviewed.length === 1 ? "1 story" : `${reviewed.length} stories`}, ${(reviews / reviewed.length).toFixed(1)} each`}`,
    `At cap:  ${atCap.length === 0 ? "none" : `${atCap.join(", ")} (look at these yourself)`}`,
    ...(violations === 0 ? [] : [`Broken rules: ${violations}`]),
  ];
}
