import { rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Patterns } from "../../patterns.js";
import { statOf, textAt } from "../../workspace/content.js";
import {
  type GitOptions,
  git,
  headCommit,
  nulEnded,
  repositoryRoot,
  SOMEBODY,
  scratchFolder,
  someOf,
} from "../../workspace/git.js";
import { withIndexCopy } from "../../workspace/index-file.js";
import { excludePatterns, unfinished } from "../../workspace/start.js";
import { isWithin, type PathEntry } from "./find.js";

/** What a repository held when the snapshot was taken. */
export interface RepositorySnapshot {
  top: string;
  /** `HEAD` where none is checked out. */
  branch: string;
  /** The commit, or the empty tree where there is none. */
  head: string;
  /** The index as a tree; left out where git can make none of it, as with a conflict. */
  index?: string | undefined;
}

/** The repository of the workspace, and those inside it that hold protected files, such as submodules. */
export async function repositorySnapshots(
  workspace: string,
  files: Iterable<PathEntry>,
): Promise<RepositorySnapshot[]> {
  const own = repositoryRoot(workspace);
  if (own === undefined) return [];
  const folders = new Set([...files].map(({ real }) => dirname(real)));
  const inner = [...folders].flatMap((folder) => repositoryRoot(folder) ?? []);
  const tops = [own, ...new Set(inner.filter((top) => isWithin(top, own)))];
  const snapshots = tops.map(async (top) => {
    const empty = () => git(top, ["hash-object", "-t", "tree", "--stdin"], { stdin: "" });
    const tree = await withIndexCopy(top, [], (copy) => git(top, ["write-tree"], copy));
    return {
      ...{ top, branch: await branchOf(top) },
      head: (await headCommit(top)) ?? (await empty()).stdout.trim(),
      index: tree?.ok ? tree.stdout.trim() : undefined,
    };
  });
  return Promise.all(snapshots);
}

async function branchOf(top: string): Promise<string> {
  const { ok, stdout } = await git(top, ["symbolic-ref", "--quiet", "HEAD"]);
  return ok ? stdout.trim() : "HEAD";
}

/** A protected file that git holds in another version. */
interface GitChange {
  file: string;
  /** From the top of the repository on. */
  name: string;
  /** What it was, for `git update-index --index-info`. */
  before: string;
}

/**
 * What a commit or the index holds otherwise than it was, as one of git's raw diffs tells it. An agent may commit
 * what the user had not committed: what is on disk is right as well, and was put back before.
 */
async function changesIn(
  top: string,
  diff: string[],
  nameOf: (real: string) => string | undefined,
): Promise<GitChange[]> {
  const { stdout } = await git(top, [...diff, "--"]);
  const raw = stdout.matchAll(/:(\d+) (\d+) (\w+) (\w+) [AMDT]\0([^\0]*)\0/g);
  const changes = [...raw].flatMap(([, oldMode, mode, old, object, name = ""]) => {
    const file = nameOf(join(top, name));
    return file ? [{ file, name, before: `${oldMode} ${old}\t${name}`, now: `${mode} ${object}` }] : [];
  });
  const asked = changes.filter(({ name }) => !name.includes("\n") && statOf(join(top, name))?.isFile());
  if (asked.length === 0) return changes;
  const stdin = asked.map(({ name }) => `${name}\n`).join("");
  const objects = (await git(top, ["hash-object", "--stdin-paths"], { stdin })).stdout.split("\n");
  const isOnDisk = asked.map(({ name, now }, index) => {
    const isProgram = ((statOf(join(top, name))?.mode ?? 0) & 0o100) !== 0;
    return now === `${isProgram ? "100755" : "100644"} ${objects[index]}`;
  });
  return changes.filter((one) => !isOnDisk[asked.indexOf(one)]);
}

/** A protected file that a commit holds in another version; `failed`: why it still does. */
export interface CommitChange {
  file: string;
  failed?: string | undefined;
}

/**
 * Puts protected files back in the index, and in HEAD by a commit of ralph's own. `nameOf`: the name of a path that
 * is protected. The files on disk are right before.
 */
export async function undoInGit(
  workspace: string,
  { top, branch, head, index }: RepositorySnapshot,
  nameOf: (real: string) => string | undefined,
): Promise<CommitChange[]> {
  if (index !== undefined) {
    const diff = ["diff-index", "--cached", "-z", "--ita-invisible-in-index", index];
    const staged = await changesIn(top, diff, nameOf);
    if (staged.length > 0) await git(top, ["update-index", ...INDEX_INFO], { stdin: infoOf(staged) });
  }
  const changed = (commit: string) => changesIn(top, ["diff-tree", "-r", "-z", head, commit], nameOf);
  const wrong = await changed("HEAD");
  const report = (changes: GitChange[], failed: string | undefined): CommitChange[] =>
    [...new Set(changes.map(({ file }) => file))].map((file) => ({ file, failed }));
  // A commit there would change what the project names.
  if (top !== repositoryRoot(workspace))
    return report(wrong, `it is committed in ${relative(workspace, top)}: undo it there`);
  const now = await branchOf(top);
  if (now !== branch) {
    const there = branch === "HEAD" ? [] : await changed(branch);
    const words = (ref: string): string => (ref === "HEAD" ? "no branch" : ref.replace("refs/heads/", ""));
    return report([...wrong, ...there], `the run began on ${words(branch)}, and HEAD is on ${words(now)}`);
  }
  if (wrong.length === 0) return [];
  const names = wrong.map(({ name }) => name);
  return report(wrong, await commitPutBack(top, names, { args: INDEX_INFO, stdin: infoOf(wrong) }));
}

const INDEX_INFO = ["-z", "--index-info"];

function infoOf(changes: GitChange[]): string {
  return nulEnded(changes.map(({ before }) => before));
}

/**
 * Commits on top of HEAD what was put back, and nothing else. The user's index and files are not touched; no hook
 * and no key has a say. `args` and `stdin` are those of `git update-index`. Returns why there is no commit.
 */
async function commitPutBack(
  workspace: string,
  names: string[],
  { args, stdin }: { args: string[]; stdin: string },
): Promise<string | undefined> {
  const folder = scratchFolder(workspace);
  const aside: GitOptions = {
    env: { GIT_INDEX_FILE: join(folder, "index") },
    settings: [["core.splitIndex", "false"]],
  };
  let failure: string | undefined;
  const step = async (what: string[], more: GitOptions = {}): Promise<string> => {
    if (failure !== undefined) return "";
    const { ok, stdout, stderr, spawnError } = await git(workspace, what, { ...aside, ...more });
    if (!ok) failure = (stderr || spawnError?.message || `git ${what[0]} failed`).trim();
    return stdout.trim();
  };
  try {
    const head = await step(["rev-parse", "--verify", "HEAD"]);
    await step(["read-tree", head]);
    await step(["update-index", ...args], { stdin });
    const tree = await step(["write-tree"]);
    const message = `ralph: put back ${someOf(names)}`;
    const commit = ["commit-tree", tree, "-p", head, "-m", message];
    const asUser = await git(workspace, commit, aside);
    const made = asUser.ok ? asUser.stdout.trim() : await step([...SOMEBODY, ...commit]);
    await step(["update-ref", "-m", message, "HEAD", made, head]);
    return failure?.replace(/\s*\n\s*/g, " ");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Commits files as they were put back on disk: otherwise a checkout would bring the agent's versions back. A file
 * that was never committed is not ralph's to commit. Where git refuses, the files stay uncommitted.
 */
export async function commitFiles(workspace: string, names: string[]): Promise<void> {
  const differing: string[] = [];
  for (const name of names) {
    const { ok, stdout } = await git(workspace, ["show", `HEAD:./${name}`]);
    const wasCommitted = ok || (await git(workspace, ["rev-list", "-1", "HEAD", "--", name])).stdout !== "";
    if (wasCommitted && (!ok || stdout !== textAt(join(workspace, name)))) differing.push(name);
  }
  if (differing.length === 0 || (await unfinished(workspace)) !== undefined) return;
  const update = { args: ["--add", "--remove", "-z", "--stdin"], stdin: nulEnded(differing) };
  if ((await commitPutBack(workspace, differing, update)) === undefined)
    await git(workspace, ["update-index", ...update.args], { stdin: update.stdin });
}

/**
 * Files that git ignores are caches and the like, unless a pattern is exactly their name. `rules`: no others are
 * believed, because an agent can write rules, too.
 */
export async function ignoredFiles(
  entries: Iterable<PathEntry>,
  { workspace, patterns }: { workspace: string; patterns: Patterns },
  rules?: string[],
): Promise<Set<string>> {
  const asked = [...entries].filter(
    ({ shown, real }) => !patterns.name(shown) && real === join(workspace, shown),
  );
  if (asked.length === 0 || repositoryRoot(workspace) === undefined) return new Set();
  const how = [...(rules === undefined ? [] : ["--no-index"]), "--verbose", "--stdin", "-z"];
  const stdin = nulEnded(asked.map(({ shown }) => shown));
  const { stdout } = await git(workspace, ["check-ignore", ...how], { stdin });
  // The file of the rule, its line, the rule, and the name that it is about.
  const matches = [...stdout.matchAll(/[^\0]*\0[^\0]*\0([^\0]*)\0([^\0]*)\0/g)];
  const isBelieved = (rule: string): boolean => rules?.includes(rule) !== false && !rule.startsWith("!");
  return new Set(
    matches.flatMap(([, rule = "", name = ""]) => (isBelieved(rule) ? join(workspace, name) : [])),
  );
}

/** The rules in the `.gitignore` of these folders and of those above them, and in the files that belong to no folder. */
export async function ignoreRules(folders: Iterable<string>, workspace: string): Promise<string[]> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return [];
  const all = new Set([root]);
  for (const folder of [workspace, ...folders])
    for (let above = folder; isWithin(above, root); above = dirname(above)) all.add(above);
  const texts = [...all].map((folder) => textAt(join(folder, ".gitignore")) ?? "");
  return [await excludePatterns(root), ...texts].join("\n").split(/\s*\n/);
}
