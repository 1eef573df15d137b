import type { FileChange } from "../events.js";
import { fileChanges } from "../workspace/changes.js";
import { git, namesIn, pairsIn } from "../workspace/git.js";

/** The texts of files, each named as `COMMIT:PATH`; empty where there is none. */
export async function textsOf(repository: string, names: string[]): Promise<string[]> {
  const stdin = names.map((name) => `${name}\n`).join("");
  const { stdout } = await git(repository, ["cat-file", "--batch"], { stdin, encoding: "latin1" });
  let at = 0;
  return names.map(() => {
    const begin = stdout.indexOf("\n", at) + 1;
    const [, kind, size] = /(\w+) (\d+)\n$/.exec(stdout.slice(at, begin)) ?? [];
    const end = begin + Number(size ?? -1);
    at = end + 1;
    return kind === "blob" ? Buffer.from(stdout.slice(begin, end), "latin1").toString() : "";
  });
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
