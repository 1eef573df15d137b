import type { Captured } from "../process/capture.js";
import { git, repositoryRoot } from "./git.js";
import { includedFiles, notIgnored } from "./included.js";
import { RUNTIME_FILES } from "./runtime.js";
import { branchOf } from "./worktree.js";

/** Large files take their time. */
const COMMIT_MS = 30 * 60_000;

/** Work must not be lost to a hook, a missing name, a line ending, or a key that nobody unlocks at night. */
const SAFELY = ["-c", "core.hooksPath=/dev/null", "-c", "core.safecrlf=false", "-c", "commit.gpgSign=false"];
const SOMEBODY = ["-c", "user.name=ralph", "-c", "user.email=ralph@localhost"];

interface Leftovers {
  /** Whether there was something to commit. */
  found: boolean;
  /** What could not be committed, and why. */
  failure?: string;
}

/** Brings all that was done in a worktree onto its branch. Files that were copied into it stay out of it. */
export async function settleWorktree(worktree: {
  path: string;
  origin: string;
  message: string;
}): Promise<Leftovers> {
  const { path, origin, message } = worktree;
  const copied = await includedFiles(repositoryRoot(origin) ?? origin).catch(() => []);
  const left = await commitLeftovers(path, message, copied);
  const notOnBranch = await followHead(path, branchOf(path));
  const failure = [left.failure, notOnBranch].filter((text) => text !== undefined).join("\n");
  return failure === "" ? { found: left.found } : { found: left.found, failure };
}

/** Commits what an agent left uncommitted, but no runtime files and none of the `copied`. */
async function commitLeftovers(path: string, message: string, copied: string[]): Promise<Leftovers> {
  const runtime = RUNTIME_FILES.flatMap((file) => [file, `${file}/**`]).map((file) => `glob)**/${file}`);
  // Ignored files are not added anyway, and git complains when they are named.
  const inTheWay = await notIgnored(path, copied);
  const all = [".", ...[...runtime, ...inTheWay.map(literal)].map((pattern) => `:(exclude,${pattern}`)];
  const added = await withPaths(path, ["add", "--all", "--ignore-errors"], all);
  // An agent may have staged them.
  const own = [...runtime, ...copied.map(literal)].map((pattern) => `:(${pattern}`);
  await withPaths(path, ["reset", "--quiet"], own);
  const { ok: isEmpty } = await git(path, ["diff", "--cached", "--quiet"], { timeoutMs: COMMIT_MS });
  const steps = isEmpty ? [added] : [await commit(path, message), added];
  const failed = steps.find(({ ok }) => !ok);
  return { found: !isEmpty, ...(failed !== undefined && { failure: saidBy(failed) }) };
}

const literal = (file: string): string => `literal)${file}`;

function withPaths(path: string, args: string[], paths: string[]): Promise<Captured> {
  const from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  const stdin = paths.map((one) => `${one}\0`).join("");
  return git(path, [...SAFELY, ...args, ...from], { stdin, timeoutMs: COMMIT_MS });
}

async function commit(path: string, message: string): Promise<Captured> {
  const args = ["commit", "--quiet", "--no-verify", "--message", message];
  const asUser = await git(path, [...SAFELY, ...args], { timeoutMs: COMMIT_MS });
  return asUser.ok ? asUser : git(path, [...SAFELY, ...SOMEBODY, ...args], { timeoutMs: COMMIT_MS });
}

function saidBy({ stderr, stdout, spawnError }: Captured): string {
  return (stderr || stdout || spawnError?.message || "git failed").trim();
}

/**
 * An agent may have gone on to a branch of its own: the worktree's branch follows, so that merging it brings
 * all of the work. Returns what is wrong where that would take more than moving forward.
 */
async function followHead(path: string, branch: string): Promise<string | undefined> {
  const name = `refs/heads/${branch}`;
  const { stdout } = await git(path, ["rev-parse", "--symbolic-full-name", "HEAD"]);
  const current = stdout.trim();
  const [head, own] = [await commitOf(path, "HEAD"), await commitOf(path, name)];
  if (head === "" || (await isPartOf(path, head, own))) return undefined;
  const isBehind = own === "" || (await isPartOf(path, own, head));
  if (isBehind && (await git(path, [...SAFELY, "update-ref", name, head, own])).ok) return undefined;
  const where = current === "HEAD" ? `commit ${head}` : `the branch ${current.replace("refs/heads/", "")}`;
  return `${branch} does not hold all of the work: merge ${where} instead`;
}

/** Empty: there is none. */
async function commitOf(path: string, name: string): Promise<string> {
  return (await git(path, ["rev-parse", "--verify", "--quiet", name])).stdout.trim();
}

async function isPartOf(path: string, commit: string, whole: string): Promise<boolean> {
  return whole !== "" && (await git(path, ["merge-base", "--is-ancestor", commit, whole])).ok;
}
