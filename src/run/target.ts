import { existsSync } from "node:fs";
import { RalphError } from "../errors.js";
import { ralphHome } from "../records/home.js";
import { lockHolder } from "../records/lock.js";
import { type RunFolder, runsIn } from "../records/runs.js";
import { quoteWord } from "../words.js";
import { git, repositoryRoot } from "../workspace/git.js";
import { RUNTIME_FOLDER } from "../workspace/runtime.js";
import { createWorktree, INCLUDE_FILE } from "../workspace/worktree/create.js";
import { branchOf, locateWorktree, takenBy, type Worktree } from "../workspace/worktree/worktree.js";
import { type RunSpec, readSpec } from "./spec.js";

/** Where a run works: here, or in a worktree of its own. */
export interface Target extends Pick<RunSpec, "workspace" | "origin" | "worktree" | "copied"> {
  /** What the user should know of it. */
  warning?: string;
}

export interface TargetOptions {
  /** A name, or true for one that ralph chooses. */
  worktree: string | boolean;
  id: string;
  /** What the run is about. */
  title: string;
  /** Command that makes a new worktree ready. */
  setup: string | undefined;
  home?: string | undefined;
  /** Aborted: a worktree that is not ready yet is taken away again. */
  signal?: AbortSignal | undefined;
  /** Told what takes long. */
  tell?: ((text: string) => void) | undefined;
}

const SETUP_MS = 30 * 60_000;

/** Never takes away or resets what is there: a run that stopped in it is returned, anything else refused. */
export async function openTarget(
  origin: string,
  options: TargetOptions,
): Promise<Target | { resume: RunFolder }> {
  if (options.worktree === false) return { workspace: origin };
  const name = options.worktree === true ? nameFor(options) : options.worktree;
  const found = await locateWorktree(origin, name);
  const taken = await takenBy(origin, found);
  if (taken !== undefined) return { resume: runIn(found, taken, options.home) };
  const { setup: command, signal, tell = () => {} } = options;
  const copied = await createWorktree(origin, found, { command, timeoutMs: SETUP_MS, signal, tell });
  return {
    workspace: found.workspace,
    origin,
    worktree: found.path,
    copied,
    ...((await isDirty(origin)) && {
      warning: "uncommitted changes of this checkout are not in the worktree",
    }),
  };
}

/** `add-jwt-auth-3f9a1b`: what it is about, and the end of the run's id. */
function nameFor({ id, title }: TargetOptions): string {
  const words = title
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 30)
    .replace(/^-+|-+$/g, "");
  return `${words || "run"}-${id.slice(-6)}`;
}

/** Settings and the list of what is copied are taken from the checkout as they are. */
async function isDirty(origin: string): Promise<boolean> {
  const known = [`**/${RUNTIME_FOLDER}/**`, INCLUDE_FILE].map((path) => `:(top,exclude,glob)${path}`);
  const args = ["status", "--porcelain", "--untracked-files=normal", "--", ":/", ...known];
  return (await git(origin, ["--no-optional-locks", ...args])).stdout !== "";
}

/** The run that stopped in the worktree and is not done. */
function runIn({ name, path, branch }: Worktree, taken: string, home = ralphHome()): RunFolder {
  const refusal = (why: string, hint = "choose another name"): RalphError =>
    new RalphError(`the worktree name ${name} is taken: ${why}`, { code: "worktree_taken", hint });
  const own = runsIn(home)
    .list()
    .findLast((folder) => specOf(folder)?.worktree === path);
  if (own === undefined) throw refusal(`${taken} is there`);
  const spec = readSpec(own);
  const holder = existsSync(spec.workspace) ? lockHolder(home, spec) : undefined;
  if (holder !== undefined) {
    throw new RalphError(
      `the worktree ${name} is in use: run ${holder.run} (pid ${holder.pid}) is at work in it`,
      { code: "worktree_in_use", hint: "wait for it, or choose another name" },
    );
  }
  if (own.state()?.success !== true) return own;
  const removal = `git merge ${branch} && git worktree remove ${quoteWord(path)} && git branch -d ${branch}`;
  throw refusal(
    `${taken} is there; its run ${own.id} is completed`,
    existsSync(path) ? `choose another name, or merge and remove it: ${removal}` : undefined,
  );
}

function specOf(folder: RunFolder): RunSpec | undefined {
  try {
    return readSpec(folder);
  } catch {
    return undefined;
  }
}

/** A run can only go on where it was. */
export function checkFolder({ id, workspace, worktree, base }: RunSpec): void {
  if (existsSync(workspace)) {
    if (base === undefined || repositoryRoot(workspace) !== undefined) return;
    throw new RalphError(`run ${id} began in a git repository, and ${workspace} is none now`, {
      code: "workspace_gone",
      hint: "put the folder of the run back",
    });
  }
  if (worktree === undefined || existsSync(worktree)) {
    throw new RalphError(`the folder of run ${id} is gone: ${workspace}`, { code: "workspace_gone" });
  }
  throw new RalphError(`the worktree of run ${id} is gone: ${worktree}`, {
    code: "worktree_gone",
    hint: `if its branch is still there: git worktree add --force ${quoteWord(worktree)} ${branchOf(worktree)}`,
  });
}
