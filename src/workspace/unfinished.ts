import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { git, repositoryRoot } from "./git.js";
import { gitFolder } from "./git-folders.js";
import { type Start, startOf } from "./start.js";

/** What git leaves in its records while it waits for somebody. A bisect waits as well, and changes no files. */
const OPERATIONS = [
  ["rebase-merge", "a rebase"],
  ["rebase-apply/applying", "git am"],
  ["rebase-apply", "a rebase"],
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["sequencer", "a cherry-pick or revert of several commits"],
] as const;

interface Operation {
  name: string;
  /** Also of what it is, where git says that: another merge is told apart. */
  id: string;
}

/** undefined: nothing is under way. */
export function operationIn(root: string): Operation | undefined {
  if (!existsSync(join(root, ".git"))) return undefined;
  const records = gitFolder(root);
  for (const [file, name] of OPERATIONS) {
    const stat = statSync(join(records, file), { throwIfNoEntry: false });
    if (stat === undefined) continue;
    return { name, id: stat.isFile() ? `${name} ${readFileSync(join(records, file), "latin1")}` : name };
  }
  return undefined;
}

/** Files with a conflict that nobody has resolved, from the top of the repository on. */
async function unmergedFiles(root: string): Promise<string[]> {
  const { stdout } = await git(root, ["ls-files", "--unmerged", "-z"]);
  const paths = stdout.split("\0").filter(Boolean);
  return [...new Set(paths.map((entry) => entry.slice(entry.indexOf("\t") + 1)))];
}

type Before = Pick<Start, "operation" | "unmerged">;

const NOTHING: Before = { operation: null, unmerged: [] };

/** What somebody has begun in the repository and not ended, in a sentence; a commit now would hold half of it. */
export async function unfinished(workspace: string, before = NOTHING): Promise<string | undefined> {
  const root = startOf(workspace)?.root ?? repositoryRoot(workspace);
  if (root === undefined) return undefined;
  const unmerged = (await unmergedFiles(root)).filter((file) => !before.unmerged.includes(file));
  return sentence(underWay(root, before), unmerged);
}

/** The same of what was not so when the run began. */
export function unfinishedSince(start: Start): Promise<string | undefined> {
  return unfinished(start.root, start);
}

/** What is under way and was not when the run began: no process is needed to look. */
export function begunSince(start: Start): string | undefined {
  return sentence(underWay(start.root, start), []);
}

function underWay(root: string, before: Before): string | undefined {
  const operation = operationIn(root);
  return operation === undefined || operation.id === before.operation ? undefined : operation.name;
}

const MAX_NAMES = 3;

function sentence(operation: string | undefined, unmerged: string[]): string | undefined {
  const more = unmerged.length > MAX_NAMES ? ` and ${unmerged.length - MAX_NAMES} more` : "";
  const parts = [
    ...(operation === undefined ? [] : [`${operation} is under way`]),
    ...(unmerged.length === 0
      ? []
      : [`conflicts are not resolved in ${unmerged.slice(0, MAX_NAMES).join(", ")}${more}`]),
  ];
  return parts.length === 0 ? undefined : `${parts.join(", and ")} (finish or abort it: git status says how)`;
}
