import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { RalphError } from "../errors.js";
import type { Capture } from "../process/run.js";
import { makePrivateFolder } from "../records/files.js";
import type { RunRequest } from "../run/spec.js";
import { type Git, git, SOMEBODY } from "../workspace/git.js";
import { LANES, oneLine, ownGit } from "../workspace/worktree/worktree.js";
import type { JobData } from "./job.js";

/** A remote as a worker sees it: a bare mirror that is kept, and the address, which needs the worker's own credentials. */
export interface Remote {
  url: string;
  /** What the remote has. All workers of the machine share it. */
  mirror: string;
  /** Where commits are made and pushed from: the mirror, or the repository of one claim. */
  repository: string;
  /** Variables that only git gets, and only for the remote. */
  credentials: NodeJS.ProcessEnv;
}

/** A branch of the remote, and the commit that this worker has pushed to it last; "": none. */
interface Ref {
  ref: string;
  tip: string;
}

/** A branch with the commit that it gets. */
export type Move = Ref & { to: string };

/** What a run writes on its remote. Every push is compared with the tips that this worker knows. */
export interface Branch {
  remote: Remote;
  /** The branch of the job. */
  result: Ref;
  /** The branch that every push moves, so that it decides who writes: that of the job, or the one of its lanes. */
  fence: Ref;
  /** After a push: these are the tips now. */
  moved(moves: Move[]): void;
}

const ALL_HEADS = "+refs/heads/*:refs/remote/*";
const FETCH_MS = 30 * 60_000;
const PUSH_MS = 10 * 60_000;

/** The mirror of a remote in the home of the fleet, made with the first use. All workers of the machine share it. */
export async function openRemote(home: string, url: string, credentials: NodeJS.ProcessEnv): Promise<Remote> {
  const folder = join(home, "mirrors");
  makePrivateFolder(folder);
  const mirror = join(folder, `${createHash("sha256").update(url).digest("hex").slice(0, 16)}.git`);
  if (!existsSync(join(mirror, "HEAD"))) {
    const made = await git(folder, ["init", "--quiet", "--bare", mirror]);
    if (!made.ok && !existsSync(join(mirror, "HEAD"))) throw failed("cannot create the mirror", made);
    // Claims use commits that no branch of the remote holds any more.
    await inBare(mirror, ["config", "gc.auto", "0"]);
  }
  return { url, mirror, repository: mirror, credentials };
}

/** git in a bare repository of ralph's own. */
export function inBare(repository: string, args: string[], options = {}): Promise<Capture> {
  return git(repository, ["--git-dir", repository, ...args], options);
}

export function withRemote(
  { repository, credentials }: Remote,
  args: string[],
  timeoutMs: number,
): Promise<Capture> {
  return inBare(repository, args, { env: { ...credentials, GIT_TERMINAL_PROMPT: "0" }, timeoutMs });
}

/** A repository of one claim's own, which sees all that the mirror has. */
export async function ownRepository(remote: Remote, path: string): Promise<Remote> {
  const made = await git(dirname(path), ["init", "--quiet", "--bare", path]);
  if (!made.ok) throw failed("cannot create the repository of the claim", made);
  writeFileSync(join(path, "objects/info/alternates"), `${join(remote.mirror, "objects")}\n`);
  return { ...remote, repository: path };
}

async function has({ mirror }: Remote, commit: string): Promise<boolean> {
  return (await inBare(mirror, ["cat-file", "-e", `${commit}^{commit}`])).ok;
}

/** Brings a commit into the mirror. */
export async function fetchCommit(remote: Remote, commit: string, ref?: string): Promise<void> {
  // Two workers that fetch at the same moment lock the same branches.
  for (let tries = 0; tries < 3; tries += 1) {
    if (await has(remote, commit)) return;
    const what = ref === undefined || tries > 0 ? ALL_HEADS : ref;
    const fetched = await withRemote(
      { ...remote, repository: remote.mirror },
      ["fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", remote.url, what],
      FETCH_MS,
    );
    if (!fetched.ok && tries === 2) throw failed(`cannot fetch from ${remote.url}`, fetched);
  }
  if (await has(remote, commit)) return;
  throw new RalphError(`${remote.url} has no commit ${commit}`, {
    code: "commit_missing",
    hint: "push it first",
  });
}

/** The commits of refs on the remote; "": there is none. Throws where the remote does not answer. */
export async function tipsOf(remote: Remote, refs: string[]): Promise<string[]> {
  const listed = await withRemote(remote, ["ls-remote", "--quiet", remote.url, ...refs], PUSH_MS);
  if (!listed.ok) throw failed(`cannot reach ${remote.url}`, listed);
  const lines = listed.stdout.split("\n");
  return refs.map((ref) => lines.find((one) => one.endsWith(`\t${ref}`))?.split("\t")[0] ?? "");
}

const EPOCH = "Ralph-Epoch";
const takeover = (run: string): string => `Take over ralph run ${run}`;

/** The branches of the remote that a job writes. */
export function refsOf({
  branch,
  request: { lanes },
}: {
  branch: string;
  request: Pick<RunRequest, "lanes">;
}) {
  const result = `refs/heads/${branch}`;
  return { result, fence: lanes === undefined ? result : `${result}-lanes` };
}

/**
 * Makes this worker the only writer of the run's branches. The first one begins them at the base; each later one adds
 * an empty commit with its epoch. What others know of the branch is wrong from then on, and their pushes are refused.
 * undefined: a worker with a higher epoch was quicker.
 */
export async function takeBranch(remote: Remote, job: JobData, epoch: number): Promise<Branch | undefined> {
  const refs = refsOf(job);
  for (;;) {
    const [tip, fenced] = epoch === 1 ? ["", ""] : await fetchTips(remote, refs);
    if (fenced !== "" && (await epochOf(remote, fenced, job)) >= epoch) return undefined;
    const next = epoch === 1 ? job.base : await epochCommit(remote, fenced || job.base, job.id, epoch);
    const fence: Move = { ref: refs.fence, tip: fenced, to: next };
    const moves = refs.fence === refs.result ? [fence] : [fence, resultMove(refs.result, tip, job.base)];
    const pushed = await push(remote, moves);
    if (pushed === "pushed") return branchAfter(remote, moves);
    if (epoch === 1) return undefined;
    // Somebody else has pushed in between: who that was decides.
  }
}

const resultMove = (ref: string, tip: string, base: string): Move => ({ ref, tip, to: tip || base });

async function fetchTips(
  remote: Remote,
  { result, fence }: ReturnType<typeof refsOf>,
): Promise<[result: string, fence: string]> {
  const [tip = "", fenced = ""] = await tipsOf(remote, [result, fence]);
  if (tip !== "") await fetchCommit(remote, tip, result);
  if (fenced !== "") await fetchCommit(remote, fenced, fence);
  return [tip, fenced];
}

function branchAfter(remote: Remote, moves: Move[]): Branch {
  const tips = moves.map(({ ref, to }) => ({ ref, tip: to }));
  const [fence = { ref: "", tip: "" }, result = fence] = tips;
  return {
    ...{ remote, fence, result },
    moved(made) {
      for (const own of tips) own.tip = made.find(({ ref }) => ref === own.ref)?.to ?? own.tip;
    },
  };
}

async function epochCommit(remote: Remote, parent: string, run: string, epoch: number): Promise<string> {
  return commitIn(remote, [`${parent}^{tree}`, "-p", parent], `${takeover(run)}\n\n${EPOCH}: ${epoch}`);
}

/** A commit that no checkout is needed for, in the name of the worker's user where that is known. */
async function commitIn({ repository }: Remote, tree: string[], message: string): Promise<string> {
  const args = ["commit-tree", ...tree, "-m", message];
  const asUser = await inBare(repository, args);
  const made = asUser.ok ? asUser : await inBare(repository, [...SOMEBODY, ...args]);
  if (!made.ok) throw failed("cannot make a commit", made);
  return made.stdout.trim();
}

/** The highest epoch that stands on the branch; 1 where nobody has taken it over. */
async function epochOf(
  { repository }: Remote,
  tip: string,
  { id, base }: { id: string; base: string },
): Promise<number> {
  const args = ["log", `--grep=^${takeover(id)}$`, `--format=%(trailers:key=${EPOCH},valueonly)`];
  const { stdout } = await inBare(repository, [...args, `${base}..${tip}`]);
  const own = stdout.split("\n").map(Number);
  return Math.max(1, ...own);
}

/** `isRefused`: the remote answers, and does not take it. */
export type PushResult = "pushed" | "lost" | { failure: string; isRefused: boolean };

/**
 * Moves branches of the remote from this worker's last tips to commits that follow them: all of them, or none. A push
 * whose answer was lost is looked up; "lost": somebody else has moved a branch.
 */
export async function push(remote: Remote, all: Move[]): Promise<PushResult> {
  const moves = all.filter(({ tip, to }) => tip !== to);
  if (moves.length === 0) return "pushed";
  const leases = moves.map(({ ref, tip }) => `--force-with-lease=${ref}:${tip}`);
  const args = ["push", "--quiet", "--no-verify", "--atomic", ...leases, remote.url];
  const pushed = await withRemote(remote, [...args, ...moves.map(({ ref, to }) => `${to}:${ref}`)], PUSH_MS);
  if (pushed.ok) return "pushed";
  try {
    const there = await tipsOf(
      remote,
      moves.map(({ ref }) => ref),
    );
    if (moves.every(({ to }, at) => to === there[at])) return "pushed";
    const isAsBefore = moves.every(({ tip }, at) => tip === there[at]);
    return isAsBefore ? { failure: oneLine(pushed.stderr, "; "), isRefused: true } : "lost";
  } catch (error) {
    return { failure: (error as Error).message, isRefused: false };
  }
}

/** What a push of a worktree would move. */
export async function movesOf({ fence }: Branch, worktree: string): Promise<Move[]> {
  const inTree = ownGit(worktree, undefined);
  const head = (await inTree(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])).stdout.trim();
  if (head === "") return [];
  const to = await following(inTree, head, fence.tip);
  if (to !== head) await inTree(["update-ref", "HEAD", to, head]);
  return [{ ...fence, to }];
}

/**
 * A commit that follows what was pushed. An agent that has rewritten its own history gets a merge that keeps both:
 * nothing that was pushed goes away.
 */
async function following(inTree: Git, head: string, pushed: string): Promise<string> {
  if ((await inTree(["merge-base", "--is-ancestor", pushed, head])).ok) return head;
  const message = "Keep what was pushed before the history was rewritten";
  const args = ["commit-tree", `${head}^{tree}`, "-p", head, "-p", pushed, "-m", message];
  const merged = await inTree([...SOMEBODY, ...args]);
  if (!merged.ok) throw failed("cannot keep what was pushed", merged);
  return merged.stdout.trim();
}

const carrier = (run: string): string => `Lanes of ralph run ${run}`;

/**
 * What a push of a run with lanes would move: its result, which is the branch `end` or else the one in which stories
 * land, and a commit on the fence that names all branches of the run and has their tips as its parents. So one
 * compare-and-swap brings all of them, and the next worker finds them as they were at one moment.
 */
export async function laneMoves(
  { remote, fence, result }: Branch,
  { id, base }: Pick<JobData, "id" | "base">,
  end = `ralph/${id}`,
): Promise<Move[]> {
  const inOwn = (args: string[]): Promise<Capture> => inBare(remote.repository, args);
  const own = [`refs/heads/ralph/${id}`, `refs/heads/ralph/${id}${LANES}`];
  const listed = (await inOwn(["for-each-ref", "--format=%(objectname) %(refname)", ...own])).stdout.trim();
  const tips = new Map(listed.split("\n").map((line) => line.split(" ").reverse() as [string, string]));
  const head = tips.get(`refs/heads/${end}`);
  const to = head === undefined ? result.tip : await following(inOwn, head, result.tip);
  const known = (await inOwn(["log", "-1", "--format=%b", fence.tip])).stdout.trim();
  if (to === result.tip && known === listed) return [];
  const parents = [...new Set([fence.tip, ...tips.values()])].filter(Boolean).flatMap((tip) => ["-p", tip]);
  const next = await commitIn(remote, [`${base}^{tree}`, ...parents], `${carrier(id)}\n\n${listed}`);
  return [
    { ...fence, to: next },
    { ...result, to },
  ];
}

/** Puts the branches of a run with lanes where they were when they were pushed last. */
export async function putBackLanes(
  { remote, fence, result }: Branch,
  { id, base }: Pick<JobData, "id" | "base">,
): Promise<void> {
  // Commits of agents stand on no first parent of this branch.
  const args = ["log", "-1", "--first-parent", `--grep=^${carrier(id)}$`, "--format=%b"];
  const { stdout } = await inBare(remote.repository, [...args, `${base}..${fence.tip}`]);
  const target = `refs/heads/ralph/${id}`;
  for (const line of stdout.split("\n")) {
    const [commit = "", ref = ""] = line.split(" ");
    if (!ref.startsWith(target)) continue;
    const put = await inBare(remote.repository, ["update-ref", ref, ref === target ? result.tip : commit]);
    if (!put.ok) throw failed("cannot put a lane back", put);
  }
}

function failed(what: string, { stderr, spawnError }: Capture): RalphError {
  const why = oneLine(stderr || spawnError?.message || "git failed", "; ");
  return new RalphError(`${what}: ${why}`, { code: "remote_failed", exitCode: 1 });
}
