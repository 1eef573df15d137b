import type { LaneResult } from "../events.js";
import { laneOf, laneResults } from "../records/lanes.js";
import type { RunState } from "../records/run-state.js";
import { commitOf } from "../workspace/landing/merge.js";
import type { LaneStart, LaneWork } from "./lanes.js";
import { changesBetween } from "./list.js";

export interface RaceSetup {
  repository: string;
  base: string;
  /** The lanes, in the order in which they begin. */
  lanes: LaneStart[];
  /** Every lane may finish; then the best of them wins. */
  all: boolean;
  /** Folder of a lane's records. */
  folderOf(lane: string): string;
  /** Ends every lane but that one. */
  endOthers(lane: string): void;
}

/** The same task in several lanes: the first one whose checks pass is the result. */
export function raceWork(
  { repository, base, lanes, all, folderOf, endOthers }: RaceSetup,
  state: RunState,
): LaneWork {
  /** In the order in which they passed. */
  const passed = lanes.map(({ lane }) => lane).filter((lane) => state.lanes?.[lane]?.state.success);
  const isOver = (): boolean => passed.length > 0 && !all;
  return {
    // A lane that fails quickly must not use up the iterations of the others.
    ownIterations: true,
    ready: () => ({ starts: isOver() ? [] : lanes, waiting: [] }),

    // biome-ignore lint/correctness/useYield: nothing is told
    async *succeeded(lane) {
      if (!passed.includes(lane)) passed.push(lane);
      if (isOver()) endOthers(lane);
      return undefined;
    },

    isDone: () => passed.length > 0,

    async ending() {
      const sizes = new Map<string, number>();
      for (const { lane, branch } of lanes) sizes.set(lane, await changedLines(branch));
      const ranked = all ? ranking(passed, sizes, state) : passed;
      const [winner] = ranked;
      const results = laneResults(state).map(
        (one): LaneResult => ({
          ...one,
          result: one.lane === winner ? "won" : one.result,
          changedLines: sizes.get(one.lane) ?? 0,
        }),
      );
      const place = ({ lane }: LaneResult): number =>
        ranked.includes(lane) ? ranked.indexOf(lane) : lanes.length;
      const won = winner === undefined ? undefined : laneOf(state, winner);
      const files = won?.branch ? await changes(won.branch) : [];
      return {
        reason: "all_checks_passed" as const,
        lanes: results.sort((a, b) => place(a) - place(b)),
        ...(won?.branch !== undefined && { branch: won.branch }),
        ...{ worktree: won?.worktree ?? null, filesChanged: won === undefined ? null : files.length },
        ...(won !== undefined && { files }),
        ...(won?.state.finished?.baseline && { baseline: won.state.finished.baseline }),
        proof: winner && folderOf(winner),
        missing: `no lane of ${lanes.length} has passed its checks`,
      };
    },
  };

  async function changes(branch: string) {
    const tip = await commitOf(repository, `refs/heads/${branch}`);
    return tip === undefined ? [] : changesBetween(repository, base, tip);
  }

  async function changedLines(branch: string): Promise<number> {
    const files = await changes(branch);
    return files.reduce((sum, { added, removed }) => sum + (added ?? 0) + (removed ?? 0), 0);
  }
}

/** Fewest changed lines first, then the lowest cost; an unknown cost counts as the highest. */
export function ranking(passed: string[], sizes: Map<string, number>, state: RunState): string[] {
  const cost = (lane: string): number => laneOf(state, lane).state.costUsd ?? Number.POSITIVE_INFINITY;
  const size = (lane: string): number => sizes.get(lane) ?? 0;
  const difference = (a: number, b: number): number => (a === b ? 0 : a - b);
  return [...passed].sort((a, b) => size(a) - size(b) || difference(cost(a), cost(b)));
}
