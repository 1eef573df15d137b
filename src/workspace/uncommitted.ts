import { git, repositoryRoot } from "./git.js";
import { gitFolder } from "./git-folders.js";
import { indexNow, newlyFlagged, withoutFlags } from "./index-flags.js";
import { dirtySubmodules, newLinks } from "./inner-repositories.js";
import { RUNTIME_FOLDER } from "./runtime.js";
import { type Start, startOf, untracked } from "./start.js";
import { infoFile, textOf } from "./take-start.js";

/** Written while a loop over stories runs, for hooks and for the curious. Never committed. */
export const ACTIVE_FILE = ".ralph-active";

const PATHS = [
  "--",
  ".",
  ...[`**/${RUNTIME_FOLDER}`, `**/${RUNTIME_FOLDER}/**`, `**/${ACTIVE_FILE}`].map(
    (path) => `:(exclude,glob)${path}`,
  ),
];

/** A program that the repository names would say what git believes. */
const TRUSTED = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false"];

/**
 * What is not committed in the workspace, new files included, from the top of the repository on. Files of
 * ralph's own are left out. Within a run, what was hidden from git since it began is not hidden.
 * undefined where git cannot tell.
 */
export async function uncommittedFiles(workspace: string): Promise<string[] | undefined> {
  const start = startOf(workspace);
  return start === undefined ? statusOf(workspace, "normal") : uncommittedSince(workspace, start);
}

async function uncommittedSince(workspace: string, start: Start): Promise<string[] | undefined> {
  const { root } = start;
  if (repositoryRoot(workspace) !== root || gitFolder(root) !== start.records) return undefined;
  const [index, others] = await Promise.all([indexNow(root), untrackedFiles(workspace, start)]);
  const inner = await newLinks(root, (args) => git(root, args), index.links);
  const dirty = index.links.length === 0 ? [] : await dirtySubmodules(root);
  const hidden = newlyFlagged(index, start);
  const tracked =
    hidden.length === 0
      ? await statusOf(workspace, "no", checkoutOf(start))
      : await withoutFlags(root, hidden, ({ env }) =>
          statusOf(workspace, "no", { ...checkoutOf(start), ...env }),
        );
  if (tracked === undefined || others === undefined) return undefined;
  const submodules = dirty.filter((path) => !start.dirtyLinks.includes(path));
  const rules = textOf(infoFile(start.records, "attributes")) === start.attributes ? [] : [ATTRIBUTES];
  return [...new Set([...tracked, ...others, ...inner, ...submodules, ...rules])];
}

/** They decide what counts as a change, and no commit holds them. */
const ATTRIBUTES = ".git/info/attributes";

/** `core.worktree` could name another folder, and `git replace` another commit. */
function checkoutOf({ root }: Start): Record<string, string> {
  return { GIT_WORK_TREE: root, GIT_NO_REPLACE_OBJECTS: "1" };
}

async function untrackedFiles(workspace: string, start: Start): Promise<string[] | undefined> {
  const what = ["--directory", "--no-empty-directory", "--full-name", "-z"];
  const args = ["ls-files", ...untracked(workspace), ...what, ...PATHS];
  const { ok, stdout } = await git(workspace, [...TRUSTED, ...args], { env: checkoutOf(start) });
  return ok ? stdout.split("\0").filter(Boolean) : undefined;
}

async function statusOf(
  workspace: string,
  untrackedFiles: "no" | "normal",
  env: Record<string, string> = {},
): Promise<string[] | undefined> {
  const how = ["--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"];
  const args = ["status", ...how, `--untracked-files=${untrackedFiles}`, ...PATHS];
  const { ok, stdout } = await git(workspace, [...TRUSTED, ...args], { env });
  if (!ok) return undefined;
  return stdout
    .split("\0")
    .filter(Boolean)
    .map((entry) => entry.slice(3));
}
