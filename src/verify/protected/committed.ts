import { join, relative } from "node:path";
import type { Patterns } from "../../patterns.js";
import { AS_STORED, commitPutBack } from "../../workspace/commit-put-back.js";
import { git, repositoryRoot } from "../../workspace/git.js";
import { entryAt } from "./entry.js";
import { isWithin, type Root, shownAs } from "./look.js";
import type { Kept } from "./snapshot.js";

/** What a commit holds of the protected files: `100644 blob OBJECT`, by names from the top of the repository on. */
type Entries = Record<string, string>;

/** The commit that a run began on. */
export interface Committed {
  /** The branch; `HEAD` where there is none. */
  branch: string;
  entries: Entries;
}

/** A protected file that a commit holds in another version. */
export interface Recommitted {
  file: string;
  /** Why it is still so. */
  failed?: string;
}

interface Place {
  workspace: string;
  roots: Root[];
  patterns: Patterns;
}

/** undefined: there is no repository. */
export async function committedNow(place: Place): Promise<Committed | undefined> {
  if (repositoryRoot(place.workspace) === undefined) return undefined;
  const [branch, entries] = await Promise.all([branchOf(place.workspace), entriesOf("HEAD", place)]);
  return { branch, entries: entries ?? {} };
}

/**
 * HEAD, and the branch that the run began on, hold protected files as they were then, or as the user had left them on
 * the disk. Where HEAD does not, a commit of ralph's own puts them back. The files on the disk are right before.
 */
export async function putBackCommitted(
  before: Committed,
  files: Kept[],
  place: Place,
): Promise<Recommitted[]> {
  const { workspace } = place;
  const top = repositoryRoot(workspace);
  if (top === undefined) return [];
  const wrongIn = async (entries: Entries | undefined): Promise<string[]> =>
    entries === undefined ? [] : differing(before.entries, entries, files, { workspace, top });
  const [branch, entries] = await Promise.all([branchOf(workspace), entriesOf("HEAD", place)]);
  const wrong = await wrongIn(entries);
  const updateOf = (names: string[]) => ({
    args: ["-z", "--index-info"],
    stdin: names.map((name) => `${before.entries[name] ?? noEntry(entries?.[name])}\t${name}\0`).join(""),
  });
  const told = (names: string[], failed: string | undefined): Recommitted[] =>
    names.map((name) => ({
      file: shownAs(join(top, name), place.roots, place.patterns) ?? name,
      ...(failed !== undefined && { failed }),
    }));
  if (branch === before.branch)
    return wrong.length === 0 ? [] : told(wrong, await commitPutBack(workspace, wrong, updateOf(wrong)));
  const wrongThere = before.branch === "HEAD" ? [] : await wrongIn(await entriesOf(before.branch, place));
  const why = `the run began on ${nameOf(before.branch)}, and HEAD is on ${nameOf(branch)}`;
  return told([...new Set([...wrong, ...wrongThere])], why);
}

async function branchOf(workspace: string): Promise<string> {
  const { ok, stdout } = await git(workspace, ["symbolic-ref", "--quiet", "HEAD"]);
  return ok ? stdout.trim() : "HEAD";
}

function nameOf(branch: string): string {
  return branch === "HEAD" ? "no branch" : branch.replace("refs/heads/", "");
}

/** undefined: there is no such commit. */
async function entriesOf(
  commit: string,
  { workspace, roots, patterns }: Place,
): Promise<Entries | undefined> {
  const top = repositoryRoot(workspace);
  if (top === undefined) return undefined;
  const inside = roots.filter(({ real }) => real === top || isWithin(real, top));
  if (inside.length === 0) return {};
  const names = inside.map(({ real }) => relative(top, real));
  const below = names.includes("") ? [] : ["--", ...new Set(names)];
  const args = ["ls-tree", "-r", "-z", "--full-tree", commit, ...below];
  const { ok, stdout } = await git(workspace, args, { env: AS_STORED });
  if (!ok) return undefined;
  const found = stdout.split("\0").flatMap((line) => {
    const tab = line.indexOf("\t");
    const name = line.slice(tab + 1);
    const isMeant = tab !== -1 && shownAs(join(top, name), roots, patterns) !== undefined;
    return isMeant ? [[name, line.slice(0, tab)] as const] : [];
  });
  return Object.fromEntries(found);
}

/** An agent may commit what the user had not: that is what was verified. */
async function differing(
  before: Entries,
  now: Entries,
  files: Kept[],
  { workspace, top }: { workspace: string; top: string },
): Promise<string[]> {
  const changed = Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
  if (changed.length === 0) return [];
  const known = new Map(files.map((file) => [file.real, file]));
  const asked = changed.filter((name) => {
    const real = join(top, name);
    return known.has(real) && !name.includes("\n") && entryAt(real)?.isFile() === true;
  });
  const stdin = asked.map((name) => `${name}\n`).join("");
  const { stdout } = await git(workspace, ["-C", top, "hash-object", "--stdin-paths"], { stdin });
  const objects = stdout.split("\n");
  const asLeft = new Map(
    asked.map((name, index) => {
      const mode = ((known.get(join(top, name))?.mode ?? 0) & 0o100) === 0 ? "100644" : "100755";
      return [name, `${mode} blob ${objects[index]}`];
    }),
  );
  return changed.filter((name) => now[name] === undefined || asLeft.get(name) !== now[name]);
}

/** As `git update-index --index-info` wants what is to be removed. */
function noEntry(entry = ""): string {
  return `0 ${entry.replace(/^.* /, "").replace(/./g, "0")}`;
}
