import { basename, dirname, join, relative } from "node:path";
import type { Patterns } from "../../patterns.js";
import { statOf, textAt } from "../../workspace/content.js";
import { git, nulEnded, repositoryRoot } from "../../workspace/git.js";
import { excludePatterns } from "../../workspace/start.js";
import { AS_STORED, commitPutBack } from "./commit.js";
import type { FileCopy } from "./disk.js";
import { type Entry, isWithin, protectedName, type Root } from "./find.js";

/** What git says about each protected file, by name. */
type Entries = Record<string, string>;

/** What git held of the protected files. */
export interface GitSnapshot {
  /** The index, by names from the workspace on: a letter for the flags, mode, object and stage. */
  staged?: Entries | undefined;
  /** HEAD, by names from the top of the repository on: `100644 blob OBJECT`. `branch` is `HEAD` where there is none. */
  committed?: { branch: string; entries: Entries } | undefined;
  /** The HEAD of submodules and other repositories inside, by their top folders. */
  inner?: Record<string, Entries>;
}

interface Place {
  workspace: string;
  roots: Root[];
  patterns: Patterns;
}

/** Nothing outside a repository. */
export async function gitSnapshot(place: Place, files: Iterable<Entry>): Promise<GitSnapshot> {
  const top = repositoryRoot(place.workspace);
  if (top === undefined) return {};
  const folders = new Set([...files].map(({ real }) => dirname(real)));
  const tops = new Set([...folders].flatMap((folder) => repositoryRoot(folder) ?? []));
  const inner: Record<string, Entries> = {};
  for (const workspace of tops)
    if (isWithin(workspace, top))
      inner[workspace] = (await committedIn("HEAD", { ...place, workspace })) ?? {};
  const [staged, branch, entries = {}] = await Promise.all([
    stagedIn(place),
    branchOf(place.workspace),
    committedIn("HEAD", place),
  ]);
  return { staged, committed: { branch, entries }, inner };
}

async function stagedIn({ workspace, roots, patterns }: Place): Promise<Entries | undefined> {
  const names = namesBelow(workspace, roots);
  if (names.length === 0) return undefined;
  const args = ["--literal-pathspecs", "ls-files", "--stage", "-v", "-z", "--", ...names];
  const { ok, stdout } = await git(workspace, args);
  return ok ? entriesIn(stdout, (name) => protectedName(join(workspace, name), roots, patterns)) : undefined;
}

/** undefined: there is no such commit. */
async function committedIn(
  commit: string,
  { workspace, roots, patterns }: Place,
): Promise<Entries | undefined> {
  const top = repositoryRoot(workspace) ?? workspace;
  const names = namesBelow(top, roots);
  if (names.length === 0) return {};
  const below = names.includes(".") ? [] : ["--", ...names];
  const args = ["ls-tree", "-r", "-z", "--full-tree", commit, ...below];
  const { ok, stdout } = await git(workspace, args, { env: AS_STORED });
  return ok ? entriesIn(stdout, (name) => protectedName(join(top, name), roots, patterns)) : undefined;
}

function namesBelow(folder: string, roots: Root[]): string[] {
  if (roots.some(({ real }) => isWithin(folder, real))) return ["."];
  const inside = roots.filter(({ real }) => real === folder || isWithin(real, folder));
  return [...new Set(inside.map(({ real }) => relative(folder, real) || "."))];
}

/** `INFO TAB NAME`, each with its end. */
function entriesIn(stdout: string, nameOf: (name: string) => string | undefined): Entries {
  const found = stdout.split("\0").flatMap((line) => {
    const [, info, name = ""] = /^([^\t]*)\t(.*)$/s.exec(line) ?? [];
    return info === undefined || nameOf(name) === undefined ? [] : [[name, info] as const];
  });
  return Object.fromEntries(found);
}

function changedNames(before: Entries, now: Entries): string[] {
  return Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
}

/** What an agent staged of protected files, or hid from git, would be committed in place of them. */
export async function putBackStaged(before: Entries, place: Place): Promise<void> {
  const { workspace } = place;
  const now = (await stagedIn(place)) ?? before;
  const touched = changedNames(before, now);
  if (touched.length === 0) return;
  const update = async (flag: string, names: string[]): Promise<void> => {
    if (names.length > 0)
      await git(workspace, ["update-index", flag, "-z", "--stdin"], { stdin: nulEnded(names) });
  };
  const known = touched.filter((name) => now[name] !== undefined);
  await update("--no-assume-unchanged", known);
  await update("--no-skip-worktree", known);
  const what = ["--ignore-submodules=dirty", "--name-only", "--relative", "-z"];
  const unlike = (await git(workspace, ["diff-files", ...what])).stdout.split("\0");
  // An entry that is what stands there is right, such as one that was committed as the user had left it.
  const wrong = touched.filter((name) => now[name] === undefined || unlike.includes(name));
  const info = wrong.map((name) => `${before[name]?.replace(/^. /, "") ?? `0 ${"0".repeat(40)}`}\t${name}`);
  if (info.length > 0)
    await git(workspace, ["update-index", "-z", "--index-info"], { stdin: nulEnded(info) });
  const had = (letter: RegExp): string[] => touched.filter((name) => letter.test(before[name] ?? ""));
  await update("--assume-unchanged", had(/^[a-z] /));
  await update("--skip-worktree", had(/^[Ss] /));
}

/** A protected file that a commit holds in another version; `failed`: why it still does. */
export interface CommitChange {
  file: string;
  failed?: string | undefined;
}

/**
 * HEAD, and the branch that the run began on, hold protected files as they were then, or as the user had left them
 * on disk. Where HEAD does not, a commit of ralph's own puts them back. The files on disk are right before.
 */
export async function putBackCommitted(
  before: NonNullable<GitSnapshot["committed"]>,
  files: FileCopy[],
  place: Place,
): Promise<CommitChange[]> {
  const { workspace, roots, patterns } = place;
  const top = repositoryRoot(workspace);
  if (top === undefined) return [];
  const [branch, now] = await Promise.all([branchOf(workspace), committedIn("HEAD", place)]);
  const wrong = await wrongNames(before.entries, now, files, top);
  const report = (names: string[], failed: string | undefined): CommitChange[] =>
    names.map((name) => ({ file: protectedName(join(top, name), roots, patterns) ?? name, failed }));
  if (branch === before.branch) {
    const gone = (entry = ""): string => `0 ${entry.replace(/^.* /, "").replace(/./g, "0")}`;
    const info = wrong.map((name) => `${before.entries[name] ?? gone(now?.[name])}\t${name}`);
    const update = { args: ["-z", "--index-info"], stdin: nulEnded(info) };
    return wrong.length === 0 ? [] : report(wrong, await commitPutBack(workspace, wrong, update));
  }
  const there = before.branch === "HEAD" ? undefined : await committedIn(before.branch, place);
  const more = await wrongNames(before.entries, there, files, top);
  const nameOf = (ref: string): string => (ref === "HEAD" ? "no branch" : ref.replace("refs/heads/", ""));
  const why = `the run began on ${nameOf(before.branch)}, and HEAD is on ${nameOf(branch)}`;
  return report([...new Set([...wrong, ...more])], why);
}

/** What commits in repositories inside hold in another version: a commit there would change what the project names. */
export async function committedInside(
  inner: Record<string, Entries>,
  files: FileCopy[],
  place: Place,
): Promise<CommitChange[]> {
  const all = Object.entries(inner).map(async ([top, before]) => {
    const now = await committedIn("HEAD", { ...place, workspace: top });
    const failed = `it is committed in ${relative(place.workspace, top)}: undo it there`;
    return (await wrongNames(before, now, files, top)).map((name) => ({
      file: protectedName(join(top, name), place.roots, place.patterns) ?? name,
      failed,
    }));
  });
  return (await Promise.all(all)).flat();
}

/** An agent may commit what the user had not committed: that is what was verified. */
async function wrongNames(
  before: Entries,
  now: Entries | undefined,
  files: FileCopy[],
  top: string,
): Promise<string[]> {
  if (now === undefined) return [];
  const changed = changedNames(before, now);
  const known = new Map(files.map((file) => [file.real, file]));
  const asked = changed.filter((name) => {
    const real = join(top, name);
    return known.has(real) && !name.includes("\n") && statOf(real)?.isFile() === true;
  });
  if (asked.length === 0) return changed;
  const stdin = asked.map((name) => `${name}\n`).join("");
  const { stdout } = await git(top, ["hash-object", "--stdin-paths"], { stdin });
  const objects = stdout.split("\n");
  return changed.filter((name) => {
    const mode = ((known.get(join(top, name))?.mode ?? 0) & 0o100) === 0 ? "100644" : "100755";
    return !asked.includes(name) || now[name] !== `${mode} blob ${objects[asked.indexOf(name)]}`;
  });
}

async function branchOf(workspace: string): Promise<string> {
  const { ok, stdout } = await git(workspace, ["symbolic-ref", "--quiet", "HEAD"]);
  return ok ? stdout.trim() : "HEAD";
}

/** The lines that tell git what to ignore, by their `.gitignore`; those of no folder stand under an empty name. */
export type IgnoreRules = Record<string, string[]>;

/**
 * Files that git ignores are caches and the like, unless a pattern is exactly their name. `rules`: no others are
 * believed, because an agent can write rules, too.
 */
export async function ignoredFiles(
  entries: Iterable<Entry>,
  { workspace, patterns }: Omit<Place, "roots">,
  rules?: IgnoreRules,
): Promise<Set<string>> {
  const asked = [...entries].filter(
    ({ shown, real }) => !patterns.name(shown) && real === join(workspace, shown),
  );
  const root = repositoryRoot(workspace);
  if (asked.length === 0 || root === undefined) return new Set();
  const how = rules === undefined ? [] : ["--no-index"];
  const stdin = nulEnded(asked.map(({ shown }) => shown));
  const { stdout } = await git(workspace, ["check-ignore", ...how, "--verbose", "--stdin", "-z"], { stdin });
  const ignored = new Set<string>();
  const fields = stdout.split("\0");
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [source = "", , rule = "", name = ""] = fields.slice(at, at + 4);
    const file = basename(source) === ".gitignore" ? join(root, source) : "";
    const isBelieved = rules === undefined || rules[file]?.includes(rule);
    if (isBelieved && !rule.startsWith("!")) ignored.add(join(workspace, name));
  }
  return ignored;
}

export async function ignoreRules(folders: Iterable<string>, workspace: string): Promise<IgnoreRules> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return {};
  const rules: IgnoreRules = { "": (await excludePatterns(root)).split(/\s*\n/) };
  for (const folder of [root, workspace, ...folders]) {
    for (let above = folder; above === root || isWithin(above, root); above = dirname(above)) {
      const file = join(above, ".gitignore");
      rules[file] ??= (textAt(file) ?? "").split(/\s*\n/);
    }
  }
  return rules;
}
