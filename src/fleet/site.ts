import { existsSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { writeAtomic } from "../records/files.js";
import type { RunFolder } from "../records/runs.js";
import { revealedSpec } from "../records/spec.js";
import { prepareResume, prepareRun } from "../run/prepare.js";
import type { PreparedRun, RunSpec } from "../run/spec.js";
import { loadSettings } from "../settings/load.js";
import { runSetup } from "../workspace/worktree/create.js";
import { settleWorktree } from "../workspace/worktree/leftovers.js";
import { branchOf, oneLine } from "../workspace/worktree/worktree.js";
import type { ClaimState } from "./claim.js";
import { CLAIM_VARIABLE, type JobData } from "./job.js";
import { downloadRun } from "./records.js";
import {
  type Branch,
  inBare,
  laneMoves,
  movesOf,
  type PushResult,
  push as pushTo,
  putBackLanes,
} from "./remote.js";
import type { Store } from "./store.js";

/** Where a claim works: a folder of its own with the records, a repository and a worktree, which no other claim knows. */
export interface ClaimSite {
  claim: string;
  path: string;
  /** Of ralph, for this claim alone. */
  home: string;
  repository: string;
  worktree: string;
}

export function claimName(id: string, epoch: number): string {
  return `${id}-${epoch}`;
}

export function siteOf(home: string, id: string, epoch: number): ClaimSite {
  const claim = claimName(id, epoch);
  const path = join(home, "claims", claim);
  // The worktrees of lanes come beside this one, whose folder gives its branch the name.
  const worktree = join(path, "repository-worktrees", claim);
  return { claim, path, home: join(path, "home"), repository: join(path, "repository.git"), worktree };
}

const LEAST_ROOM = 64 * 1024 ** 2;

/** Whether the disk has room for one more claim. */
export function hasRoom(home: string): boolean {
  const { bavail, bsize } = statfsSync(home);
  return bavail * bsize >= LEAST_ROOM;
}

/** The worktree of the run, as it was pushed last; lanes are put back beside it, and begin where the run began. */
export async function makeWorktree(
  { repository, worktree }: ClaimSite,
  job: JobData,
  branch: Branch,
): Promise<void> {
  const hasLanes = job.request.lanes !== undefined;
  if (hasLanes) await putBackLanes(branch, job);
  const commit = hasLanes ? job.base : branch.result.tip;
  const args = ["worktree", "add", "--quiet", "-b", branchOf(worktree), worktree, commit];
  const added = await inBare(repository, args);
  if (added.ok) return;
  throw new RalphError(`cannot create the worktree: ${oneLine(added.stderr, "; ")}`, {
    code: "worktree_failed",
  });
}

export function removeSite({ path }: ClaimSite): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

/**
 * Variables for agents and checks. They find no credentials for the remote: git asks no helper of the user's for a
 * password, and ssh takes no key.
 */
export function claimEnvironment({ claim }: ClaimSite): Record<string, string> {
  return {
    [CLAIM_VARIABLE]: claim,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "credential.helper",
    GIT_CONFIG_VALUE_0: "",
    GIT_TERMINAL_PROMPT: "0",
    GIT_SSH_COMMAND: "ssh -F /dev/null -o IdentityFile=/dev/null -o IdentityAgent=none -o BatchMode=yes",
  };
}

/** The records of the run so far, from the store; undefined: it has not begun. */
export async function earlierRecords(
  store: Store,
  { home }: ClaimSite,
  id: string,
): Promise<RunFolder | undefined> {
  const folder = await downloadRun(store, home, id);
  if (existsSync(folder.journal) && existsSync(folder.specFile)) return folder;
  rmSync(folder.path, { recursive: true });
  return undefined;
}

const SETUP_MS = 30 * 60_000;

/** Makes the run ready in the worktree: from its start, or from its records. */
export async function prepareClaim(
  site: ClaimSite,
  { id, name, createdAt, base, folder: inside, request, remote, branch }: JobData,
  earlier: RunFolder | undefined,
  preparing: { signal: AbortSignal; tell(text: string): void },
): Promise<PreparedRun> {
  const { worktree, home } = site;
  const workspace = join(worktree, inside);
  const loaded = await loadSettings(workspace, request.config);
  const hasLanes = request.lanes !== undefined;
  const here = {
    ...{ workspace, pushed: { remote, branch } },
    ...(!hasLanes && { origin: workspace, worktree }),
  };
  // Lanes have worktrees of their own, and nobody works in this one.
  const { setup: command } = hasLanes ? {} : loaded.settings;
  await runSetup(workspace, { ...preparing, command, timeoutMs: SETUP_MS });
  const revealed = revealedSpec(request as never, process.env) as unknown as typeof request;
  if (earlier !== undefined) {
    const spec = JSON.parse(readFileSync(earlier.specFile, "utf8")) as RunSpec;
    writeAtomic(earlier.specFile, `${JSON.stringify({ ...spec, ...here }, null, 2)}\n`);
    return prepareResume(earlier, { limits: request.limits, hiddenChecks: revealed.hiddenChecks }, loaded);
  }
  const prepared = await prepareRun({ ...revealed, origin: workspace, worktree: false }, loaded, {
    ...preparing,
    home,
  });
  if ("resume" in prepared) throw new Error("a run without a worktree of its own resumes nothing");
  return { ...prepared, spec: { ...prepared.spec, ...here, id, createdAt, name, base } };
}

const PUSH_AGAIN_MS = 1000;
const MOST_REFUSALS = 5;

/** Brings the work to the remote, one push at a time. */
export function pusherOf({ context, job: { data }, lease }: ClaimState, site: ClaimSite, branch: Branch) {
  const hasLanes = data.request.lanes !== undefined;
  let last = performance.now();
  let turn: Promise<unknown> = Promise.resolve();
  const push = async (end?: string): Promise<PushResult> => {
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
