import type { FileChange } from "../events.js";
import { fileChanges } from "../workspace/changes.js";
import { git, namesIn, pairsIn } from "../workspace/git.js";

/** The text of a file in a commit; empty where it has none. */
export async function textAtCommit(repository: string, commit: string, file: string): Promise<string> {
  const { ok, stdout } = await git(repository, ["cat-file", "blob", `${commit}:${file}`]);
  return ok ? stdout : "";
}

const DIFF = ["diff-tree", "-r", "-z", "--no-renames", "--no-relative"];

/** The files that differ between two commits, from the top of the repository on. */
export async function filesBetween(repository: string, from: string, to: string): Promise<string[]> {
  return namesIn((await git(repository, [...DIFF, "--name-only", from, to])).stdout);
}

/** The same with what was done to each. */
export async function changesBetween(repository: string, from: string, to: string): Promise<FileChange[]> {
  const [counts, kinds] = await Promise.all([
    git(repository, [...DIFF, "--numstat", from, to]),
    git(repository, [...DIFF, "--name-status", from, to]),
  ]);
  return fileChanges(
    namesIn(counts.stdout),
    new Map(pairsIn(kinds.stdout).map(([how, path]) => [path, how])),
  );
}

/** A word that is the same for the same changes, wherever they stand; `except`: files that do not count. */
export async function patchBetween(
  repository: string,
  [from, to]: [from: string | undefined, to: string],
  except: string[],
): Promise<string> {
  const paths = ["--", ...except.map((file) => `:(top,exclude,literal)${file}`)];
  const args = ["diff-tree", "-r", "-p", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"];
  const { stdout: stdin } = await git(repository, [...args, from ?? to, to, ...paths]);
  return (await git(repository, ["patch-id", "--stable"], { stdin })).stdout.split(" ")[0] ?? "";
}
