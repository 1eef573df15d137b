import type { LaneResult } from "../../events.js";
import type { Report } from "../../records/report.js";
import type { Lane, RunState } from "../../records/run-state.js";
import type { Look } from "../../views/report/shapes.js";
import type { LaneCard } from "../api.js";

const LOOKS: Record<LaneResult["result"], Look> = {
  ...{ landed: "passed", won: "passed", passed: "passed", blocked: "agent-failed" },
  ...{ failed: "failed", stopped: "cut-off", waiting: "not-run" },
};

/** The lanes of a run side by side: what became of each, or where it stands now. */
export function laneCards({ lanes = [] }: Report, state: RunState, isLiving: boolean): LaneCard[] {
  return lanes.map(({ worktree: _, ...result }) => {
    const lane = state.lanes?.[result.lane];
    const standing = isLiving && lane !== undefined ? standingOf(lane) : undefined;
    const overlaps = Object.entries(lane?.overlaps ?? {}).filter(([, files]) => files.length > 0);
    return {
      ...result,
      isQueued: standing === QUEUED || standing === LANDING,
      standing: standing ?? result.result,
      look: standing === undefined ? LOOKS[result.result] : "at-work",
      overlaps: overlaps.map(([other, files]) => `would conflict with ${other} in ${files.join(", ")}`),
    };
  });
}

const QUEUED = "in the landing queue";
const LANDING = "landing";

/** undefined: nothing more happens in it. */
function standingOf({ state, landed, blocked, landing, waits }: Lane): string | undefined {
  if (landed !== undefined || blocked !== undefined) return undefined;
  if (state.status !== "finished") {
    if (state.startedAt === "") return waits === undefined ? undefined : `waits for ${waits.for}`;
    return state.status === "running" ? (state.iteration?.mode ?? "works") : state.status;
  }
  if (!state.success) return undefined;
  return landing === undefined ? QUEUED : LANDING;
}
