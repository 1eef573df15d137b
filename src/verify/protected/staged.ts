import type { Patterns } from "../../patterns.js";
import { type GitOptions, git } from "../../workspace/git.js";
import type { Root } from "./look.js";

/** What the index says of the protected files, by their names: a letter for its bits, mode, object and stage. */
export type Staged = Record<string, string>;

/** undefined: nothing to be known, as outside a repository. */
export async function stagedOf(
  patterns: Patterns,
  roots: Root[],
  workspace: string,
): Promise<Staged | undefined> {
  const names = roots.filter(({ base }) => base === workspace).map(({ shown }) => shown || ".");
  if (names.length === 0) return undefined;
  const args = ["--literal-pathspecs", "ls-files", "--stage", "-v", "-z", "--", ...new Set(names)];
  const { ok, stdout } = await git(workspace, args);
  if (!ok) return undefined;
  const entries = stdout.split("\0").flatMap((line) => {
    const tab = line.indexOf("\t");
    const name = line.slice(tab + 1);
    return tab === -1 || !patterns.match(name) ? [] : [[name, line.slice(0, tab)] as const];
  });
  return Object.fromEntries(entries);
}

/** What an agent has staged of protected files, or hidden from git, would be committed in place of them. */
export async function putBackStaged(before: Staged, now: Staged, workspace: string): Promise<void> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const touched = names.filter((name) => before[name] !== now[name]);
  if (touched.length === 0) return;
  const options = (list: string[]): GitOptions => ({ stdin: list.map((one) => `${one}\0`).join("") });
  const update = async (flag: string, list: string[]): Promise<void> => {
    if (list.length > 0) await git(workspace, ["update-index", flag, "-z", "--stdin"], options(list));
  };
  const known = touched.filter((name) => now[name] !== undefined);
  await update("--no-assume-unchanged", known);
  await update("--no-skip-worktree", known);
  // An entry that is what stands there is right, such as one that was committed as the user had left it.
  const different = await git(workspace, [
    "diff-files",
    "--ignore-submodules=dirty",
    "--name-only",
    "--relative",
    "-z",
  ]);
  const unlike = new Set(different.stdout.split("\0"));
  const gone = touched.filter((name) => now[name] === undefined);
  const wrong = [...known.filter((name) => unlike.has(name)), ...gone];
  if (wrong.length > 0)
    await git(
      workspace,
      ["update-index", "-z", "--index-info"],
      options(wrong.map((name) => infoOf(before[name], name))),
    );
  const had = (letter: RegExp) => touched.filter((name) => letter.test(before[name] ?? ""));
  await update("--assume-unchanged", had(/^[a-z] /));
  await update("--skip-worktree", had(/^[Ss] /));
}

/** As `git update-index --index-info` reads it. */
function infoOf(entry: string | undefined, name: string): string {
  if (entry === undefined) return `0 ${"0".repeat(40)}\t${name}`;
  return `${entry.replace(/^. /, "")}\t${name}`;
}
