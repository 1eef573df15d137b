import { setTimeout as sleep } from "node:timers/promises";
import { settleWorktree } from "../workspace/worktree/leftovers.js";
import type { ClaimState } from "./claim.js";
import { type Branch, nextCommit, type Pushed, pushCommit } from "./remote.js";
import type { Site } from "./site.js";

const PUSH_AGAIN_MS = 1000;
const MOST_REFUSALS = 5;

/** Brings the work to the branch of the remote, one push at a time. */
export function pusherOf({ context, job, lease }: ClaimState, { worktree }: Site, branch: Branch) {
  let last = performance.now();
  let turn: Promise<unknown> = Promise.resolve();
  const push = async (): Promise<Pushed> => {
    if (lease.isLost()) return "lost";
    const commit = await nextCommit(worktree, branch.tip);
    if (commit === undefined) return "pushed";
    last = performance.now();
    const pushed = await pushCommit(branch, commit);
    if (pushed === "lost") lease.lose("the branch was moved by somebody else");
    if (typeof pushed === "object") context.say(`${job.data.id}: not pushed: ${pushed.failure}`);
    if (pushed === "pushed") branch.tip = commit;
    return pushed;
  };
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = turn.then(work);
    turn = next.catch(() => {});
    return next;
  };
  return {
    /** What the agent has committed so far. */
    forward: () => inTurn(push),
    /** With what is not committed, where the last push is so long ago. */
    whole: (message: string, everyMs: number) =>
      inTurn(async () => {
        if (performance.now() - last < everyMs) return;
        await settleWorktree({ path: worktree, origin: worktree, message, copied: [] });
        await push();
      }),
    /** The loop has committed everything. Returns why the remote does not take it. */
    last: () =>
      inTurn(async () => {
        for (let refusals = 0; ; await sleep(PUSH_AGAIN_MS)) {
          const pushed = await push();
          if (typeof pushed === "string") return undefined;
          if (pushed.isRefused) refusals += 1;
          if (refusals >= MOST_REFUSALS) return pushed.failure;
        }
      }),
  };
}
