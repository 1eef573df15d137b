import type { FileChange } from "../events.js";
import { git, namesIn } from "../workspace/git.js";

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

const CHANGES: Record<string, FileChange["change"]> = { A: "added", D: "deleted" };

/** The same with what was done to each. */
export async function changesBetween(repository: string, from: string, to: string): Promise<FileChange[]> {
  const [counts, kinds] = await Promise.all([
    git(repository, [...DIFF, "--numstat", from, to]),
    git(repository, [...DIFF, "--name-status", from, to]),
  ]);
  const fields = namesIn(kinds.stdout);
  const letters = new Map(
    fields.flatMap((field, at) => (at % 2 === 0 ? [[fields[at + 1] ?? "", field]] : [])),
  );
  const count = (text: string): number | null => (text === "-" ? null : Number(text));
  return namesIn(counts.stdout).map((record) => {
    const [added = "", removed = "", ...rest] = record.split("\t");
    const path = rest.join("\t");
    return {
      path,
      change: CHANGES[letters.get(path) ?? ""] ?? "modified",
      added: count(added),
      removed: count(removed),
    };
  });
}
