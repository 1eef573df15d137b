import { RalphError } from "../errors.js";
import { readSpec } from "../host/spec.js";
import { ralphHome } from "../state/home.js";
import { listRunFolders, readRun } from "../state/runs.js";
import { git } from "../workspace/git.js";
import { createWorktree, locateWorktree, takenBy, type Worktree } from "../workspace/worktree.js";

export interface WorktreeFlags {
  /** true: with a name that ralph chooses. */
  worktree?: string | boolean;
}

/** Where a run works: here, in a worktree of its own, or where a run that can be resumed stopped. */
export type Place = { workspace: string; origin?: string; worktree?: string } | { resume: string };

interface About {
  id: string;
  title: string;
  setup: string | undefined;
}

/** Never takes away or resets what is there: it is resumed if its run can be, else refused. */
export async function openWorktree(
  { worktree }: WorktreeFlags,
  origin: string,
  about: About,
): Promise<Place> {
  if (worktree === undefined || worktree === false) return { workspace: origin };
  const name = worktree === true ? nameFor(about) : worktree;
  const found = await locateWorktree(origin, name);
  const taken = await takenBy(origin, found);
  if (taken !== undefined) return resumeIn(found, taken);
  await warnOfDirt(origin);
  await createWorktree(origin, found, about.setup);
  return { workspace: found.workspace, origin, worktree: found.path };
}

/** `add-jwt-auth-3f9a1b`: what it is about, and the end of the run's id. */
function nameFor({ id, title }: About): string {
  const words = title
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 30)
    .replace(/^-+|-+$/g, "");
  return `${words || "run"}-${id.slice(-6)}`;
}

function resumeIn({ name, path, branch }: Worktree, taken: string): Place {
  const home = ralphHome();
  const own = listRunFolders(home).findLast((folder) => {
    try {
      return readSpec(folder).worktree === path;
    } catch {
      return false;
    }
  });
  if (own !== undefined && readRun(own)?.state.success !== true) {
    process.stderr.write(`ralph: the worktree ${name} belongs to run ${own.id}, which goes on\n`);
    return { resume: own.id };
  }
  const done = own === undefined ? "" : `; its run ${own.id} is completed`;
  throw new RalphError(`the worktree name ${name} is taken: ${taken} is there${done}`, {
    code: "worktree_taken",
    hint: `choose another name, or merge and remove it: git merge ${branch} && git worktree remove ${path} && git branch -d ${branch}`,
  });
}

async function warnOfDirt(origin: string): Promise<void> {
  const { stdout } = await git(origin, ["--no-optional-locks", "status", "--porcelain"]);
  if (stdout === "") return;
  process.stderr.write("ralph: warning: uncommitted changes of this checkout are not in the worktree\n");
}
