import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../errors.js";
import type { Captured } from "../process/capture.js";
import { makePrivateFolder } from "../records/files.js";
import { git, SOMEBODY } from "../workspace/git.js";
import { oneLine, ownGit } from "../workspace/worktree/worktree.js";

/** A remote as a worker sees it: a bare mirror that is kept, and the address, which needs the worker's own credentials. */
export interface Remote {
  url: string;
  mirror: string;
  /** Variables that only git gets, and only for the remote. */
  credentials: NodeJS.ProcessEnv;
}

/** The branch of a run on its remote, and what this worker knows of it. */
export interface Branch {
  remote: Remote;
  ref: string;
  /** The commit that this worker has pushed last. Everything that it pushes is compared with it. */
  tip: string;
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
    if (!made.ok && !existsSync(join(mirror, "HEAD"))) throw failed("cannot make the mirror", made);
    // Other workers make commits in it that no branch holds yet.
    await inMirror(mirror, ["config", "gc.auto", "0"]);
  }
  return { url, mirror, credentials };
}

/** git in a bare repository of ralph's own. */
export function inMirror(mirror: string, args: string[], options = {}): Promise<Captured> {
  return git(mirror, ["--git-dir", mirror, ...args], options);
}

export function withRemote(
  { mirror, credentials }: Remote,
  args: string[],
  timeoutMs: number,
): Promise<Captured> {
  return inMirror(mirror, args, { env: { ...credentials, GIT_TERMINAL_PROMPT: "0" }, timeoutMs });
}

async function has({ mirror }: Remote, commit: string): Promise<boolean> {
  return (await inMirror(mirror, ["cat-file", "-e", `${commit}^{commit}`])).ok;
}

/** Brings a commit into the mirror. */
export async function fetchCommit(remote: Remote, commit: string, ref?: string): Promise<void> {
  // Two workers that fetch at the same moment lock the same branches.
  for (let tries = 0; tries < 3 && !(await has(remote, commit)); tries += 1) {
    const what = ref === undefined || tries > 0 ? ALL_HEADS : ref;
    const fetched = await withRemote(
      remote,
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

/** The commit of a ref on the remote; "": there is none. Throws where the remote does not answer. */
export async function tipOf(remote: Remote, ref: string): Promise<string> {
  const listed = await withRemote(remote, ["ls-remote", "--quiet", remote.url, ref], PUSH_MS);
  if (!listed.ok) throw failed(`cannot reach ${remote.url}`, listed);
  const line = listed.stdout.split("\n").find((one) => one.endsWith(`\t${ref}`));
  return line?.split("\t")[0] ?? "";
}

const EPOCH = "Ralph-Epoch";
const takeover = (run: string): string => `Take over ralph run ${run}`;

/**
 * Makes this worker the only writer of the branch. The first one begins the branch at the base; each later one adds
 * an empty commit with its epoch. What others know of the branch is wrong from then on, and their pushes are refused.
 * undefined: a worker with a higher epoch was quicker.
 */
export async function takeBranch(
  remote: Remote,
  job: { id: string; branch: string; base: string },
  epoch: number,
): Promise<Branch | undefined> {
  const ref = `refs/heads/${job.branch}`;
  for (;;) {
    const tip = epoch === 1 ? "" : await tipOf(remote, ref);
    if (tip !== "") await fetchCommit(remote, tip, ref);
    if (tip !== "" && (await epochOf(remote, tip, job)) >= epoch) return undefined;
    const from = tip || job.base;
    const next = epoch === 1 ? from : await epochCommit(remote, from, job.id, epoch);
    const branch = { remote, ref, tip };
    const pushed = await pushCommit(branch, next);
    if (pushed === "pushed") return { ...branch, tip: next };
    if (epoch === 1) return undefined;
    // Somebody else has pushed in between: who that was decides.
  }
}

async function epochCommit({ mirror }: Remote, parent: string, run: string, epoch: number): Promise<string> {
  const message = `${takeover(run)}\n\n${EPOCH}: ${epoch}`;
  const args = ["commit-tree", `${parent}^{tree}`, "-p", parent, "-m", message];
  const asUser = await inMirror(mirror, args);
  const made = asUser.ok ? asUser : await inMirror(mirror, [...SOMEBODY, ...args]);
  if (!made.ok) throw failed("cannot make the commit of a takeover", made);
  return made.stdout.trim();
}

/** The highest epoch that stands on the branch; 1 where nobody has taken it over. */
async function epochOf(
  { mirror }: Remote,
  tip: string,
  { id, base }: { id: string; base: string },
): Promise<number> {
  const args = ["log", `--grep=^${takeover(id)}$`, `--format=%(trailers:key=${EPOCH},valueonly)`];
  const { stdout } = await inMirror(mirror, [...args, `${base}..${tip}`]);
  const own = stdout.split("\n").map(Number);
  return Math.max(1, ...own);
}

/** `isRefused`: the remote answers, and does not take it. */
export type Pushed = "pushed" | "lost" | { failure: string; isRefused: boolean };

/**
 * Moves the branch of the remote from this worker's last tip to a commit that follows it, or not at all. A push whose
 * answer was lost is looked up; "lost": somebody else has moved the branch.
 */
export async function pushCommit(
  branch: Pick<Branch, "remote" | "ref" | "tip">,
  commit: string,
): Promise<Pushed> {
  const { remote, ref, tip } = branch;
  if (commit === tip) return "pushed";
  const lease = `--force-with-lease=${ref}:${tip}`;
  const args = ["push", "--quiet", "--no-verify", "--atomic", lease, remote.url, `${commit}:${ref}`];
  const pushed = await withRemote(remote, args, PUSH_MS);
  if (pushed.ok) return "pushed";
  try {
    const there = await tipOf(remote, ref);
    if (there === commit) return "pushed";
    return there === tip ? { failure: oneLine(pushed.stderr, "; "), isRefused: true } : "lost";
  } catch (error) {
    return { failure: (error as Error).message, isRefused: false };
  }
}

/**
 * The commit of a worktree that follows what was pushed. An agent that has rewritten its own history gets a merge
 * that keeps both: nothing that was pushed goes away.
 */
export async function nextCommit(worktree: string, pushed: string): Promise<string | undefined> {
  const inTree = ownGit(worktree, undefined);
  const head = (await inTree(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])).stdout.trim();
  if (head === "" || head === pushed) return undefined;
  if ((await inTree(["merge-base", "--is-ancestor", pushed, head])).ok) return head;
  const message = "Keep what was pushed before the history was rewritten";
  const args = ["commit-tree", `${head}^{tree}`, "-p", head, "-p", pushed, "-m", message];
  const merged = await inTree([...SOMEBODY, ...args]);
  if (!merged.ok) throw failed("cannot keep what was pushed", merged);
  const commit = merged.stdout.trim();
  await inTree(["update-ref", "HEAD", commit, head]);
  return commit;
}

function failed(what: string, { stderr, spawnError }: Captured): RalphError {
  const why = oneLine(stderr || spawnError?.message || "git failed", "; ");
  return new RalphError(`${what}: ${why}`, { code: "remote_failed", exitCode: 1 });
}
