import { formatDuration } from "../duration.js";
import type { LaneResult } from "../events.js";
import { activeMsUntil, type Lane, type RunState } from "../records/run-state.js";
import type { ConsoleFormatter } from "./agent-lines.js";
import { formatCost, joined, plural } from "./figures.js";
import { brief, harmlessLine } from "./harmless.js";
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
    const word = result === "waiting" ? "not begun" : result;
    return [index === 0 ? "lanes" : "", `${harmlessLine(lane)} ${word}${why} (${more})`];
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
export function standingOf({ state, landed, blocked, landing, waits, branch }: Lane): string {
  if (landed !== undefined) return "landed";
  if (blocked !== undefined || state.reason === "blocked") return "blocked";
  if (branch === undefined) return `waits for ${waits?.for ?? "its turn"}`;
  if (state.status === "finished") return state.success ? (landing ? "landing" : "queued") : "ended";
  return state.status === "running" ? (state.iteration?.mode ?? "works") : state.status;
}
