import { RalphError } from "../errors.js";
import { ralphHome } from "../state/home.js";
import { listRunFolders, type RunFolder, readRun } from "../state/runs.js";
import { git } from "../workspace/git.js";
import { createWorktree, locateWorktree, takenBy, type Worktree } from "../workspace/worktree.js";
import { readSpec } from "./spec.js";

/** Where a run works: here, or in a worktree of its own. */
export interface Place {
  workspace: string;
  origin?: string;
  worktree?: string;
  /** What the user should know of it. */
  warning?: string;
}

export interface PlaceOptions {
  /** A name, or true for one that ralph chooses. */
  worktree: string | boolean;
  id: string;
  /** What the run is about. */
  title: string;
  /** Command that makes a new worktree ready. */
  setup: string | undefined;
  home: string | undefined;
}

/** Never takes away or resets what is there: a run that stopped in it is returned, anything else refused. */
export async function openPlace(
  origin: string,
  options: PlaceOptions,
): Promise<Place | { resume: RunFolder }> {
  if (options.worktree === false) return { workspace: origin };
  const name = options.worktree === true ? nameFor(options) : options.worktree;
  const found = await locateWorktree(origin, name);
  const taken = await takenBy(origin, found);
  if (taken !== undefined) return { resume: runIn(found, taken, options.home) };
  const { stdout: dirt } = await git(origin, ["--no-optional-locks", "status", "--porcelain"]);
  await createWorktree(origin, found, options.setup);
  return {
    workspace: found.workspace,
    origin,
    worktree: found.path,
    ...(dirt !== "" && { warning: "uncommitted changes of this checkout are not in the worktree" }),
  };
}

/** `add-jwt-auth-3f9a1b`: what it is about, and the end of the run's id. */
function nameFor({ id, title }: PlaceOptions): string {
  const words = title
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 30)
    .replace(/^-+|-+$/g, "");
  return `${words || "run"}-${id.slice(-6)}`;
}

/** The run that works in the worktree and is not done. */
function runIn({ name, path, branch }: Worktree, taken: string, home = ralphHome()): RunFolder {
  const own = listRunFolders(home).findLast((folder) => worktreeOf(folder) === path);
  if (own !== undefined && readRun(own)?.state.success !== true) return own;
  const done = own === undefined ? "" : `; its run ${own.id} is completed`;
  const removal = `git worktree remove ${path} && git branch -d ${branch}`;
  throw new RalphError(`the worktree name ${name} is taken: ${taken} is there${done}`, {
    code: "worktree_taken",
    hint: `choose another name, or merge and remove it: git merge ${branch} && ${removal}`,
  });
}

function worktreeOf(folder: RunFolder): string | undefined {
  try {
    return readSpec(folder).worktree;
  } catch {
    return undefined;
  }
}
