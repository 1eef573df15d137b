import type { LoopEventBody } from "../events.js";
import type { Settled } from "../loop/effects.js";
import type { Start } from "../workspace/git.js";
import { unfinishedSince } from "../workspace/start.js";
import type { RunSpec } from "./spec.js";

/** Whoever has already ended the agent by force waits no longer than this for the commit. */
const HURRIED_MS = 20_000;

/** What an agent left uncommitted in a worktree, or on another branch, would not be part of a merge. */
export async function* settle(
  { worktree, origin = "", copied = [], id }: RunSpec,
  iteration: number,
  kill: AbortSignal,
  start: Start | undefined,
): AsyncGenerator<LoopEventBody, Settled> {
  if (worktree === undefined) {
    const unsettled = start && (await unfinishedSince(start));
    return { worktree: null, ...(unsettled !== undefined && { unsettled }) };
  }
  const begun = performance.now();
  const { settleWorktree } = await import("../workspace/worktree/leftovers.js");
  const message = `Work of ralph run ${id}`;
  const stop = kill.aborted ? AbortSignal.timeout(HURRIED_MS) : kill;
  const { found, failure } = await settleWorktree({ path: worktree, origin, message, copied, stop });
  if (!found && failure === undefined) return { worktree };
  yield {
    type: "scm.finished",
    iteration,
    task: "commit",
    passed: failure === undefined,
    exitCode: failure === undefined ? 0 : 1,
    durationMs: Math.round(performance.now() - begun),
    message: failure ?? message,
  };
  return { worktree, ...(failure !== undefined && { unsettled: failure }) };
}
