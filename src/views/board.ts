import { formatDuration } from "../duration.js";
import type { boardOf } from "../recipes/stories/state.js";
import type { Lane } from "../records/run-state.js";
import { costCell, type Formatter, formatCost, joined, plural } from "./figures.js";
import { brief, harmlessLine } from "./harmless.js";
import { standingOf } from "./lane-lines.js";
import { hanging, tableLines } from "./layout.js";

/** The lanes of an active run, for people and as JSON. */
export function standingOfLanes(lanes: Record<string, Lane>) {
  return Object.entries(lanes).map(([lane, known]) => {
    const { iterations, costUsd } = known.state;
    const own = { lane, standing: standingOf(known), blocked: known.blocked ?? null };
    const isOpen = (one: Lane | undefined): boolean => one !== undefined && one.landed === undefined;
    const conflicts = Object.entries(known.overlaps ?? {}).flatMap(([other, files]) =>
      files.length > 0 && isOpen(known) && isOpen(lanes[other]) ? [{ lane: other, files }] : [],
    );
    return { ...own, slot: known.slot ?? null, iterations, costUsd, conflicts };
  });
}

type Board = ReturnType<typeof boardOf>;

export function boardLines(board: Board, { paint, mark }: Formatter, width: number | undefined): string[] {
  const { project, branchName, stories, next, budget, reviewCap, run } = board;
  const done = stories.filter((story) => story.done).length;
  const name = project || branchName;
  const hasStatistics = stories.some(({ iterations }) => iterations !== undefined);
  const head = ["", "STORY", "STATE", "REVIEWS", ...(hasStatistics ? ["ITER", "COST", "TIME"] : []), "TITLE"];
  const rows = stories.map(({ reviews, atCap, iterations = 0, costUsd = null, durationMs = 0, ...story }) => {
    const time = durationMs === 0 ? "-" : formatDuration(durationMs);
    return [
      ...[story.done ? mark.pass : " ", story.story, story.state, `${reviews}${atCap ? " (cap)" : ""}`],
      ...(hasStatistics ? [String(iterations), costCell(costUsd), time] : []),
      story.title,
    ];
  });
  const left = `${plural(budget.stories, "story", "stories")} left, about ${plural(budget.iterations, "iteration")}`;
  return [
    paint("bold", harmlessLine(`${name && `${name}: `}${done} of ${stories.length} stories done`)),
    "",
    ...tableLines([head, ...rows], { width, right: hasStatistics ? [3, 4, 5, 6] : [3] }),
    "",
    `Next:    ${next === null ? "nothing; all stories are done" : `${next.mode} ${brief(next.story ?? "")}`.trim()}`,
    ...(next === null ? [] : [`Budget:  ${left} (review cap ${reviewCap})`]),
    ...(run === null ? [] : [`Run:     ${run} is running`]),
    ...(hasStatistics ? statistics(stories) : []),
  ];
}

/** One review each is little overhead; many mean real findings; the cap means that a person has to look. */
function statistics(stories: Board["stories"]): string[] {
  const reviewed = stories.filter(({ reviews }) => reviews > 0);
  const reviews = reviewed.reduce((sum, story) => sum + story.reviews, 0);
  const each = `${plural(reviewed.length, "story", "stories")}, ${(reviews / reviewed.length).toFixed(1)} each`;
  const atCap = stories.filter((story) => story.atCap).map(({ story }) => harmlessLine(story));
  const violations = stories.reduce((sum, story) => sum + (story.violations ?? 0), 0);
  return [
    `Reviews: ${reviews}${reviewed.length === 0 ? "" : ` for ${each}`}`,
    `At cap:  ${atCap.length === 0 ? "none" : `${atCap.join(", ")} (review these yourself)`}`,
    ...(violations === 0 ? [] : [`Broken rules: ${violations}`]),
  ];
}

export function standingLines(
  lanes: ReturnType<typeof standingOfLanes>,
  columns: number | undefined,
): string[] {
  return lanes.flatMap(({ lane, standing, iterations, costUsd, conflicts }, index) => {
    const cost = costUsd !== null && formatCost(costUsd);
    const others = conflicts.map((one) => `would conflict with ${one.lane} in ${one.files.join(", ")}`);
    const words = joined(`${lane} ${standing}`, plural(iterations, "iteration"), cost, ...others);
    const [start, text] = [index === 0 ? "Lanes:   " : "         ", harmlessLine(words)];
    return columns === undefined ? [`${start}${text}`] : hanging(start, text, columns);
  });
}
