import { existsSync } from "node:fs";
import { join } from "node:path";
import { orElse, RalphError } from "../errors.js";
import { ralphHome } from "../records/home.js";
import { lockHolder } from "../records/lock.js";
import { type RunFolder, runsIn } from "../records/runs.js";
import type { Settings } from "../settings/schema.js";
import { quoteWord } from "../words.js";
import { withoutCredentials } from "../workspace/credentials.js";
import { quietEnvironment, repositoryRoot } from "../workspace/git.js";
import { createWorktree } from "../workspace/worktree/create.js";
import { branchOf, locateWorktree, takenBy, type Worktree } from "../workspace/worktree/worktree.js";
import { type RunRequest, type RunSpec, readSpec } from "./spec.js";

export interface PrepareOptions {
  home?: string | undefined;
  /** Aborted: ralph removes a worktree that is not ready yet. */
  signal?: AbortSignal | undefined;
  /** Receives messages about steps that take long. */
  tell?(text: string): void;
}

const SETUP_MS = 30 * 60_000;

/**
 * Opens the folder that a run works in: this one, or a worktree of its own, which the settings set up. Never removes or
 * resets what is there: it returns a run that stopped in the worktree, and refuses anything else.
 */
export async function openTarget(
  { origin, worktree, title, name, within }: RunRequest,
  id: string,
  { setup: command, agent }: Settings,
  { home, signal, tell = () => {} }: PrepareOptions,
): Promise<Pick<RunSpec, "workspace" | "origin" | "worktree" | "copied"> | { resume: RunFolder }> {
  if (within !== undefined) return within;
  if (worktree === false) return { workspace: origin };
  const found = await locateWorktree(origin, worktree === true ? (name ?? nameFor(title, id)) : worktree);
  const taken = await takenBy(origin, found);
  if (taken !== undefined) return { resume: runIn(found, taken, home) };
  const env = withoutCredentials(
    quietEnvironment(),
    join(found.path, ".git", "no-login"),
    Object.keys(agent?.env ?? {}),
  );
  const copied = await createWorktree(origin, found, { command, timeoutMs: SETUP_MS, signal, env, tell });
  return { workspace: found.workspace, origin, worktree: found.path, copied };
}

/** `add-jwt-auth-3f9a1b`: the title, and the end of the run's id. */
export function nameFor(title: string, id: string): string {
  const words = title
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 30)
    .replace(/^-+|-+$/g, "");
  return `${words || "run"}-${id.slice(-6)}`;
}

/** The run that stopped in the worktree without success. */
function runIn({ name, path, branch }: Worktree, taken: string, home = ralphHome()): RunFolder {
  const refusal = (why: string, hint = "choose another name"): RalphError =>
    new RalphError(`the worktree name ${name} is in use: ${why}`, { code: "worktree_taken", hint });
  const own = runsIn(home)
    .list()
    .findLast((folder) => orElse(() => folder.shown().worktree, undefined) === path);
  if (own === undefined) throw refusal(`${taken} is there`);
  const spec = readSpec(own);
  const holder = existsSync(spec.workspace) ? lockHolder(home, spec) : undefined;
  if (holder !== undefined) {
    throw new RalphError(
      `the worktree ${name} is in use: run ${holder.run} (pid ${holder.pid}) is running in it`,
      { code: "worktree_in_use", hint: "wait for it, or choose another name" },
    );
  }
  if (own.state()?.success !== true) return own;
  const removal = `git merge ${branch} && git worktree remove ${quoteWord(path)} && git branch -d ${branch}`;
  throw refusal(
    `${taken} exists, and its run ${own.id} is completed`,
    existsSync(path) ? `choose another name, or merge and remove it: ${removal}` : undefined,
  );
}

/** A run can only go on in its folder. */
export function checkFolder({ id, workspace, worktree, base }: RunSpec): void {
  if (existsSync(workspace)) {
    if (base === undefined || repositoryRoot(workspace) !== undefined) return;
    throw new RalphError(`run ${id} began in a git repository, and ${workspace} is none now`, {
      code: "workspace_gone",
      hint: "restore the folder of the run",
    });
  }
  if (worktree === undefined || existsSync(worktree))
    throw new RalphError(`the folder of run ${id} is gone: ${workspace}`, { code: "workspace_gone" });
  throw new RalphError(`the worktree of run ${id} is gone: ${worktree}`, {
    code: "worktree_gone",
    hint: `if its branch is still there: git worktree add --force ${quoteWord(worktree)} ${branchOf(worktree)}`,
  });
}
