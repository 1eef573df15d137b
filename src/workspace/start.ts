import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { textAt } from "./content.js";
import { commonFolder, git, gitFolder, namesIn, repositoryRoot, type Start, someOf, startOf } from "./git.js";
import { indexState } from "./index-file.js";
import { dirtySubmodules, unknownRepositories } from "./inner-repositories.js";

/** How the repository stands now; `ignored` are the patterns to write to the file `excludes`. */
export async function takeStart(
  root: string,
  excludes: string,
  commits: boolean,
): Promise<{ start: Start; ignored: string }> {
  const [index, settings] = await Promise.all([indexState(root), settingsNow(root)]);
  const records = gitFolder(root);
  const { "core.excludesfile": _, ...others } = settings;
  const start: Start = {
    root,
    records,
    operation: operationIn(root)?.id ?? null,
    ...index,
    dirtyLinks: index.links.length === 0 ? [] : await dirtySubmodules(root),
    inner: commits ? await unknownRepositories(root, (args) => git(root, args)) : [],
    settings: Object.entries(others),
    attributes: infoText(records, "attributes"),
    excludes,
  };
  return { start, ignored: await excludePatterns(root, settings) };
}

/** What git ignores besides `.gitignore`: the user's own patterns, then those of the repository, which count for more. */
export async function excludePatterns(root: string, settings?: Record<string, string>): Promise<string> {
  const { "core.excludesfile": own = "" } = settings ?? (await settingsNow(root));
  return [textAt(resolve(root, own)) ?? "", infoText(gitFolder(root), "exclude")].join("\n");
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

async function settingsNow(root: string): Promise<Record<string, string>> {
  const usual = join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "git");
  const settings: Record<string, string> = {
    ...DEFAULTS,
    "core.attributesfile": join(usual, "attributes"),
    "core.excludesfile": join(usual, "ignore"),
  };
  const pattern = `^(${Object.keys(settings).join("|").replaceAll(".", "\\.")})$`;
  const { stdout } = await git(root, ["config", "-z", "--get-regexp", pattern]);
  for (const entry of namesIn(stdout)) {
    const [name = "", ...value] = entry.split("\n");
    settings[name] = value.length === 0 ? "true" : value.join("\n").replace(/^~(?=\/)/, homedir());
  }
  return settings;
}

/** git keeps such a file with the repository, also for a worktree. Empty: there is none. */
export function infoText(records: string, name: string): string {
  return textAt(join(commonFolder(records), "info", name)) ?? "";
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

type Before = Pick<Start, "operation" | "unmerged">;

/** What is begun in the repository and not ended, in a sentence; a commit now would hold half of it. */
export async function unfinished(
  workspace: string,
  before: Before = { operation: null, unmerged: [] },
): Promise<string | undefined> {
  const root = startOf(workspace)?.root ?? repositoryRoot(workspace);
  if (root === undefined) return undefined;
  const { unmerged } = await indexState(root);
  return sentence(
    root,
    before,
    unmerged.filter((file) => !before.unmerged.includes(file)),
  );
}

/** The same of what was not so when the run began. */
export function unfinishedSince(start: Start): Promise<string | undefined> {
  return unfinished(start.root, start);
}

/** What is under way and was not when the run began: no process is needed to find out. */
export function begunSince(start: Start): string | undefined {
  return sentence(start.root, start, []);
}

function sentence(root: string, before: Before, unmerged: string[]): string | undefined {
  const operation = operationIn(root);
  const parts = [
    ...(operation === undefined || operation.id === before.operation
      ? []
      : [`${operation.name} is under way`]),
    ...(unmerged.length === 0 ? [] : [`conflicts are not resolved in ${someOf(unmerged)}`]),
  ];
  return parts.length === 0 ? undefined : `${parts.join(", and ")} (finish or abort it: git status says how)`;
}
