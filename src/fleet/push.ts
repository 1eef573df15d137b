import { setTimeout as sleep } from "node:timers/promises";
import { settleWorktree } from "../workspace/worktree/leftovers.js";
import type { ClaimState } from "./claim.js";
import { type Branch, laneMoves, movesOf, type Pushed, push as pushTo } from "./remote.js";
import type { ClaimSite } from "./site.js";

const PUSH_AGAIN_MS = 1000;
const MOST_REFUSALS = 5;

/** Brings the work to the remote, one push at a time. */
export function pusherOf({ context, job: { data }, lease }: ClaimState, site: ClaimSite, branch: Branch) {
  const hasLanes = data.request.lanes !== undefined;
  let last = performance.now();
  let turn: Promise<unknown> = Promise.resolve();
  const push = async (end?: string): Promise<Pushed> => {
    if (lease.isLost()) return "lost";
    const moves = await (hasLanes ? laneMoves(branch, data, end) : movesOf(branch, site.worktree));
    if (moves.every(({ tip, to }) => tip === to)) return "pushed";
    last = performance.now();
    const pushed = await pushTo(branch.remote, moves);
    if (pushed === "lost") lease.lose("the branch was moved by somebody else");
    if (typeof pushed === "object") context.say(`${data.id}: not pushed: ${pushed.failure}`);
    if (pushed === "pushed") branch.moved(moves);
    return pushed;
  };
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = turn.then(work);
    turn = next.catch(() => {});
    return next;
  };
  return {
    /** What the agents have committed so far. */
    forward: () => inTurn(() => push()),
    /** With what is not committed in a worktree, where the last push is so long ago. */
    whole: (worktree: string, message: string, everyMs: number) =>
      inTurn(async () => {
        if (performance.now() - last < everyMs) return;
        await settleWorktree({ path: worktree, origin: worktree, message, copied: [] });
        await push();
      }),
    /**
     * The loop has committed everything. `end`: the branch that holds the result of lanes. Returns why the remote does
     * not take it.
     */
    last: (end?: string) =>
      inTurn(async () => {
        for (let refusals = 0; ; await sleep(PUSH_AGAIN_MS)) {
          const pushed = await push(end);
          if (typeof pushed === "string") return undefined;
          if (pushed.isRefused) refusals += 1;
          if (refusals >= MOST_REFUSALS) return pushed.failure;
        }
      }),
  };
}
