import type { LaneResult } from "../../events.js";
import type { Lane, RunState } from "../../records/run-state.js";
import type { Look } from "../../views/report/shapes.js";
import type { LaneCard, LaneStanding } from "../api.js";

const LOOKS: Record<LaneResult["result"], Look> = {
  ...{ landed: "passed", won: "passed", passed: "passed", blocked: "agent-failed" },
  ...{ failed: "failed", stopped: "cut-off", waiting: "not-run" },
};

type LanesState = Pick<RunState, "lanes"> | undefined;

/** What became of each lane, or where it stands now; without a state nothing more happens in any. */
export function standingsOf(lanes: LaneResult[] = [], state?: LanesState): LaneStanding[] {
  return lanes.map(({ lane, result }) => {
    const own = state?.lanes?.[lane];
    const [standing, look] = (own && standingOf(own)) ?? [result, LOOKS[result]];
    return { lane, standing, look };
  });
}

/** The lanes of a run side by side. */
export function laneCards(lanes: LaneResult[] = [], state: LanesState, isLiving: boolean): LaneCard[] {
  const standings = standingsOf(lanes, isLiving ? state : undefined);
  return lanes.map(({ worktree: _, ...result }, index) => {
    const own = standings[index] as LaneStanding;
    const { overlaps = {}, landed } = state?.lanes?.[result.lane] ?? {};
    return {
      ...{ ...result, ...own, isQueued: own.standing === QUEUED || own.standing === LANDING },
      overlaps: Object.entries(overlaps).flatMap(([other, files]) =>
        landed !== undefined || files.length === 0
          ? []
          : [`would conflict with ${other} in ${files.join(", ")}`],
      ),
    };
  });
}

const QUEUED = "in the landing queue";
const LANDING = "landing";

/** undefined: nothing more happens in it. */
function standingOf({ state, landed, blocked, landing, waits }: Lane): [string, Look] | undefined {
  if (landed !== undefined || blocked !== undefined) return undefined;
  if (state.status === "finished" && !state.success) return undefined;
  if (state.status === "finished") return landing === undefined ? [QUEUED, "held"] : [LANDING, "at-work"];
  if (state.startedAt === "") return waits && [`waits for ${waits.for}`, "held"];
  return state.status === "running" ? [state.iteration?.mode ?? "works", "at-work"] : [state.status, "held"];
}
