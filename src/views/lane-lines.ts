import { formatDuration } from "../duration.js";
import type { LaneResult } from "../events.js";
import type { boardOf } from "../recipes/stories/state.js";
import { activeMsUntil, type Lane, type RunState } from "../records/run-state.js";
import type { ConsoleFormatter } from "./agent-lines.js";
import { costCell, type Formatter, formatCost, joined, plural } from "./figures.js";
import { brief, harmlessLine } from "./harmless.js";
import { hanging, tableLines } from "./layout.js";
import type { ByEvent } from "./view.js";

/** The lanes of a run, for people. */

type Lines = ByEvent<[state: Readonly<RunState>, format: ConsoleFormatter], string[]>;

/** Replaces the lines of an ordinary loop. */
export const LANE_LINES: Lines = {
  "run.started": () => [],
  "lane.started": ({ title, branch }, _, { paint }) => [
    paint("bold", `--- ${joined(title && harmlessLine(title), harmlessLine(branch))} ---`),
  ],
  "lane.waiting": (event, _, { paragraph }) =>
    paragraph(`Waits for ${harmlessLine(event.for)}, which changed ${harmlessLine(event.file)}`, "dim"),
  "lane.overlaps": (event, _, { paragraph, mark }) =>
    event.files.length === 0
      ? paragraph(`No longer conflicts with ${harmlessLine(event.with)}`, "dim")
      : paragraph(
          `${mark.warning} Would conflict with ${harmlessLine(event.with)} in ${harmlessLine(event.files.join(", "))}`,
          "yellow",
        ),
  "lane.returned": (event, _, { paragraph }) =>
    paragraph(`Back to its agent (try ${event.try} of 2)`, "yellow"),
  "lane.blocked": ({ message }, _, { paragraph, mark }) =>
    paragraph(`${mark.error} Blocked: ${harmlessLine(message)}`, "red"),
  "run.finished": ({ success, reason, message = reason }, _, { paragraph, mark }) =>
    success ? [] : paragraph(`${mark.warning} Stopped: ${harmlessLine(message)}`, "yellow"),
};

const WORDS: Record<LaneResult["result"], string> = {
  ...{ landed: "landed", won: "won", passed: "passed", blocked: "blocked" },
  ...{ failed: "failed", stopped: "stopped", waiting: "not begun" },
};

/** A line for each lane of a run that has ended. */
export function laneRows(lanes: LaneResult[]): [name: string, value: string][] {
  return lanes.map(({ lane, result, message, iterations, costUsd, changedLines, worktree }, index) => {
    const more = joined(
      plural(iterations, "iteration"),
      costUsd !== null && formatCost(costUsd),
      changedLines !== undefined && plural(changedLines, "changed line"),
      result !== "landed" && result !== "won" && worktree,
    );
    const why = message === undefined ? "" : `: ${brief(harmlessLine(message))}`;
    return [index === 0 ? "lanes" : "", `${harmlessLine(lane)} ${WORDS[result]}${why} (${more})`];
  });
}

/** The current activity of the lanes, in a line. */
export function lanesStatus(state: Readonly<RunState>, lanes: Record<string, Lane>, now: number): string {
  const all = Object.entries(lanes);
  const landed = all.filter(([, lane]) => lane.landed !== undefined).length;
  return joined(
    ...all.flatMap(([name, lane]) => standing(name, lane) ?? []),
    landed > 0 && `${landed} landed`,
    formatDuration(activeMsUntil(now, state, true)),
    state.costUsd !== null && formatCost(state.costUsd),
  );
}

function standing(name: string, lane: Lane): string | undefined {
  const word = standingOf(lane);
  return ["landed", "blocked", "ended"].includes(word) ? undefined : `${name} ${word}`;
}

/** The state of a lane, in a word. */
function standingOf({ state, landed, blocked, landing, waits, branch }: Lane): string {
  if (landed !== undefined) return "landed";
  if (blocked !== undefined || state.reason === "blocked") return "blocked";
  if (branch === undefined) return `waits for ${waits?.for ?? "its turn"}`;
  if (state.status === "finished") return state.success ? (landing ? "landing" : "queued") : "ended";
  return state.status === "running" ? (state.iteration?.mode ?? "works") : state.status;
}

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
