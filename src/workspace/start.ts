import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { textAt } from "./content.js";
import { commonFolder, git, gitFolder, repositoryRoot, type Start, someOf, startOf } from "./git.js";
import { type GitSetting, gitSettings } from "./git-programs.js";
import { indexState } from "./index-file.js";
import { dirtySubmodules, unknownRepositories } from "./stage.js";

/**
 * How the repository stands now; `ignored` are the patterns to write to the file `excludes`. `list`: its settings, where
 * they are known already.
 */
export async function takeStart(
  root: string,
  excludes: string,
  commits: boolean,
  list?: GitSetting[],
): Promise<{ start: Start; ignored: string }> {
  const [index, settings] = await Promise.all([indexState(root), settingsNow(root, list)]);
  const { "core.excludesfile": _, ...others } = settings;
  const start: Start = {
    root,
    records: gitFolder(root),
    operation: operationIn(root)?.id ?? null,
    ...index,
    dirtyLinks: await dirtySubmodules(root, index.links),
    inner: commits ? await unknownRepositories(root, (args) => git(root, args)) : [],
    settings: Object.entries(others),
    excludes,
  };
  return { start, ignored: await excludePatterns(root, settings) };
}

/** What git ignores besides `.gitignore`: the user's own patterns, then those of the repository, which count for more. */
export async function excludePatterns(root: string, settings?: Record<string, string>): Promise<string> {
  const { "core.excludesfile": own = "" } = settings ?? (await settingsNow(root));
  const inRepository = join(commonFolder(gitFolder(root)), "info", "exclude");
  return [resolve(root, own), inRepository].map((file) => textAt(file) ?? "").join("\n");
}

/** Settings that can hide a change from git, with git's own defaults. */
const DEFAULTS = {
  "core.trustctime": "true",
  "core.checkstat": "default",
  "core.ignorestat": "false",
  "core.filemode": "true",
  "core.symlinks": "true",
  "core.ignorecase": "false",
};

async function settingsNow(root: string, list?: GitSetting[]): Promise<Record<string, string>> {
  const usual = join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "git");
  const settings: Record<string, string> = {
    ...DEFAULTS,
    "core.attributesfile": join(usual, "attributes"),
    "core.excludesfile": join(usual, "ignore"),
  };
  for (const [, name, value] of list ?? (await gitSettings(root)))
    if (name in settings) settings[name] = value.replace(/^~(?=\/)/, homedir());
  return settings;
}

/** What git leaves in its records while it waits for a person. A bisect waits as well, and changes no files. */
const OPERATIONS = [
  ["rebase-merge", "a rebase"],
  ["rebase-apply/applying", "git am"],
  ["rebase-apply", "a rebase"],
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["sequencer", "a cherry-pick or revert of several commits"],
] as const;

/** undefined: nothing is under way. The id tells one merge from another. */
function operationIn(root: string): { name: string; id: string } | undefined {
  if (!existsSync(join(root, ".git"))) return undefined;
  const records = gitFolder(root);
  for (const [file, name] of OPERATIONS) {
    const stat = statSync(join(records, file), { throwIfNoEntry: false });
    if (stat === undefined) continue;
    return { name, id: stat.isFile() ? `${name} ${readFileSync(join(records, file), "latin1")}` : name };
  }
  return undefined;
}

type Unfinished = Pick<Start, "operation" | "unmerged">;

/** What is begun in the repository since `before` and not ended, in a sentence; a commit now would hold half of it. */
export async function unfinished(
  workspace: string,
  before: Unfinished = { operation: null, unmerged: [] },
): Promise<string | undefined> {
  const root = startOf(workspace)?.root ?? repositoryRoot(workspace);
  if (root === undefined) return undefined;
  const { unmerged } = await indexState(root);
  const found = unmerged.filter((file) => !before.unmerged.includes(file));
  return sentence(root, before, found);
}

/** What is under way and was not when the run began: no process is needed to find out. */
export function begunSince(start: Start): string | undefined {
  return sentence(start.root, start, []);
}

function sentence(root: string, before: Unfinished, unmerged: string[]): string | undefined {
  const operation = operationIn(root);
  const parts = [
    ...(operation === undefined || operation.id === before.operation
      ? []
      : [`${operation.name} is under way`]),
    ...(unmerged.length === 0 ? [] : [`conflicts are not resolved in ${someOf(unmerged)}`]),
  ];
  return parts.length === 0 ? undefined : `${parts.join(", and ")} (finish or abort it: git status says how)`;
}
