import type { CheckFinished, LandingCheck } from "../../events.js";
import { git } from "../git.js";
import { holdCommit, type InTheWay, inTheWay, moveBranch } from "./checkout.js";
import {
  bothDiffs,
  commitOf,
  commitTree,
  type MergedFiles,
  mergeBase,
  mergeTrees,
  type Sides,
  withFiles,
} from "./merge.js";
import { type LandedWork, type Losses, lossesOf } from "./proof.js";

export interface LandingRequest {
  /** A checkout of the repository. */
  repository: string;
  /** Full name of the branch, such as `refs/heads/main`. */
  target: string;
  /** The commit to land. */
  tip: string;
  /** Folder of a worktree of ralph's own; made when it is not there, and left there. */
  worktree: string;
  message: string;
  /** The commit that the work began with; left out: the last one that it has from the target. */
  since?: string | undefined;
  /** What landed before: none of it may be lost. */
  earlier?: LandedWork[];
  /** One commit in place of a merge. */
  squash?: boolean;
  /** Files that the caller merges itself: git's conflicts in them do not count. Asked again when the target moved. */
  merged?(sides: Sides): Promise<MergedFiles>;
  /**
   * One pass of the run's checks in a folder that holds exactly the commit; undefined: interrupted. It is asked
   * twice, on the same files. No checks: nothing verifies, and the caller allows it.
   */
  verify(worktree: string, commit: string): Promise<CheckFinished[] | undefined>;
  /** Written down before anything is verified or moved: what a crash cuts off is found by it. */
  started?(intent: Intent): Promise<void> | void;
  /** The commit has passed its checks; the branch moves next. */
  verified?(passed: { old: string; new: string; tree: string; checks: CheckFinished[] }): Promise<void>;
  signal?: AbortSignal | undefined;
}

interface Intent {
  old: string;
  new: string;
  tip: string;
}

export type LandingResult =
  | { kind: "landed"; old: string; new: string; tip: string; checks: CheckFinished[] }
  /** All of it is in the target already. */
  | { kind: "nothing"; old: string }
  | { kind: "conflict"; old: string; files: string[]; said: string; diffs: { target: string; tip: string } }
  /** The same checks failed twice. */
  | { kind: "red"; old: string; new: string; checks: CheckFinished[] }
  | { kind: "flaky"; old: string; new: string; first: CheckFinished; second: CheckFinished }
  | ({ kind: "lost"; old: string; new: string } & Losses)
  /** Somebody else moved the target, again and again. */
  | { kind: "moved"; old: string; tries: number }
  | ({ kind: "in_the_way" } & InTheWay)
  /** git cannot. */
  | { kind: "failed"; said: string }
  | { kind: "interrupted" };

/** What is written down of a landing that was refused, besides why. */
export function factsOf(result: LandingResult) {
  const checks =
    result.kind === "flaky" ? [result.first, result.second] : result.kind === "red" ? result.checks : [];
  return {
    ...("old" in result && { old: result.old }),
    ...("new" in result && { new: result.new }),
    ...("files" in result && result.files.length > 0 && { files: result.files }),
    ...(checks.length > 0 && { checks: checks.map(asProof) }),
  };
}

/** What is written down of a check. */
export function asProof({ name, command, passed, durationMs, log }: CheckFinished): LandingCheck {
  return { ...(name !== undefined && { name }), command, passed, durationMs, log };
}

/** A check of a landing that a crash cut off when its branch had moved: it had passed. */
export function asPassed(check: Pick<LandingCheck, "name" | "command">): LandingCheck {
  return { ...check, passed: true, durationMs: 0, log: "" };
}

const MOST_TRIES = 5;

/**
 * Lands a commit: makes the merge commit, verifies that commit, proves that nothing that landed earlier is lost, and
 * moves the branch by compare-and-swap. Where the branch moved meanwhile, it begins anew. Touches nobody's checkout
 * but the one that the branch is checked out in, and that one last.
 */
export async function land(request: LandingRequest): Promise<LandingResult> {
  let old = "";
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    old = (await commitOf(request.repository, request.target)) ?? "";
    const result =
      old === "" ? failed(`there is no branch ${shortName(request.target)}`) : await landOn(old, request);
    if (result !== "moved") return result;
  }
  return { kind: "moved", old, tries: MOST_TRIES };
}

async function landOn(old: string, request: LandingRequest): Promise<LandingResult | "moved"> {
  const { repository, target, tip } = request;
  const built = await build(request, old);
  if ("kind" in built) return built;
  const move = { repository, target, old, new: built.commit };
  const [blocked, losses] = await Promise.all([
    inTheWay(move),
    lossesOf({ repository, old, commit: built.commit, tip, ...built.proof }),
  ]);
  if (blocked !== undefined) return { kind: "in_the_way", ...blocked };
  if (losses.lines.length + losses.gone.length > 0)
    return { kind: "lost", old, new: built.commit, ...losses };
  await request.started?.({ old, new: built.commit, tip });
  const verdict = await judge(request, old, built.commit);
  if ("kind" in verdict) return verdict;
  await request.verified?.({ old, new: built.commit, tree: built.tree, ...verdict });
  const moved = await moveBranch(move);
  if (moved.kind === "moved") return "moved";
  return moved.kind === "done" ? { kind: "landed", old, new: built.commit, tip, ...verdict } : moved;
}

interface Built {
  commit: string;
  tree: string;
  proof: Pick<Parameters<typeof lossesOf>[0], "since" | "base" | "earlier" | "except">;
}

/** The commit that would land, or why there is none. */
async function build(request: LandingRequest, old: string): Promise<Built | LandingResult> {
  const { repository, target, tip, message, squash, earlier = [] } = request;
  const base = await mergeBase(repository, old, tip);
  if (base === tip) return { kind: "nothing", old };
  if (base === undefined) return failed(`${tip} and ${shortName(target)} have no commit in common`);
  const sides = { base, target: old, tip };
  const [own = {}, merge] = await Promise.all([request.merged?.(sides), mergeTrees(repository, old, tip)]);
  if ("failed" in merge) return failed(merge.failed);
  const files = merge.files.filter((file) => !Object.hasOwn(own, file));
  if (files.length > 0) {
    const diffs = await bothDiffs(repository, sides, files);
    return { kind: "conflict", old, files, said: merge.said, diffs };
  }
  const except = Object.keys(own);
  const tree = except.length === 0 ? merge.tree : await withFiles(repository, merge.tree, own);
  const before = squash && (await git(repository, ["rev-parse", `${old}^{tree}`])).stdout.trim();
  if (tree === before) return { kind: "nothing", old };
  const made = await commitTree(repository, { tree, parents: squash ? [old] : [old, tip], message });
  if (typeof made !== "string") return failed(made.failed);
  // What people brought to the target themselves counts as landed, too.
  const landed = [...earlier, { name: shortName(target), old: base }];
  const proof = { since: request.since ?? base, base, earlier: landed, except };
  return { commit: made, tree, proof };
}

/** Two passes on the same files: what differs is flaky, what fails twice is red. */
async function judge(
  { repository, worktree, verify, signal }: LandingRequest,
  old: string,
  commit: string,
): Promise<{ checks: CheckFinished[] } | LandingResult> {
  const pass = async (): Promise<CheckFinished[] | LandingResult> => {
    const held = await holdCommit(repository, worktree, commit);
    if (held !== undefined) return failed(held.failed);
    const checks = await verify(worktree, commit);
    return checks === undefined || signal?.aborted ? { kind: "interrupted" } : checks;
  };
  const first = await pass();
  if ("kind" in first || first.length === 0) return "kind" in first ? first : { checks: first };
  const second = await pass();
  if ("kind" in second) return second;
  const at = first.findIndex(({ passed }, index) => passed !== second[index]?.passed);
  const [one, other] = [first[at], second[at]];
  if (one !== undefined && other !== undefined)
    return { kind: "flaky", old, new: commit, first: one, second: other };
  const isRed = second.some(({ passed }) => !passed);
  return isRed ? { kind: "red", old, new: commit, checks: second } : { checks: second };
}

function shortName(target: string): string {
  return target.replace(/^refs\/heads\//, "");
}

function failed(said: string): LandingResult {
  return { kind: "failed", said };
}
