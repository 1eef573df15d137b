import { type RunFolder, runFolder } from "../records/runs.js";
import { type Delivery, deliveryOf, type Following, keepDelivery, type Round } from "./delivery.js";
import type { Forge } from "./forge.js";

/** How a round is worked on: an ordinary run in the worktree of the pull request. */
export interface Rounds {
  /** Makes the run of a round ready; it is written down before it starts. */
  prepare(task: string, maxCostUsd: number | null): Promise<{ run: string; start(): Promise<unknown> }>;
  /** Goes on with one that was cut off. */
  resume(run: RunFolder): Promise<unknown>;
  /** What the first run was asked. */
  task: string;
}

export interface FollowOptions {
  maxRounds?: number | undefined;
  maxCostUsd?: number | undefined;
  pollMs: number;
  stop: AbortSignal;
  tell(text: string): void;
}

/** What is followed, as it stands on the disk: it is read anew before each step. */
export interface Context extends FollowOptions, Rounds {
  run: RunFolder;
  forge: Forge;
  number: number;
  worktree: string;
  checkout: string;
  branch: string;
}

export function following({ run }: Pick<Context, "run">): Following {
  return deliveryOf(run)?.follow as Following;
}

export function change(run: RunFolder, changes: Partial<Following>): void {
  const delivery = deliveryOf(run) as Delivery;
  keepDelivery(run, { ...delivery, follow: { ...(delivery.follow as Following), ...changes } });
}

/** Of the last one. */
export function changeRound({ run }: Context, changes: Partial<Round>): void {
  const { rounds } = following({ run });
  change(run, { rounds: [...rounds.slice(0, -1), { ...(rounds.at(-1) as Round), ...changes }] });
}

export function spentIn(context: Context): number {
  const runs = following(context).rounds.flatMap(({ run }) => run ?? []);
  const costs = runs.map((id) => runFolder(context.run.home, id).state()?.costUsd ?? 0);
  return costs.reduce((sum, cost) => sum + cost, 0);
}
