import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { RalphError } from "../errors.js";
import type { LaneStart } from "../lanes/lanes.js";
import { writeAtomic } from "../records/files.js";
import { git, repositoryRoot } from "../workspace/git.js";
import { removeOwnWorktree } from "../workspace/landing/checkout.js";
import { commitOf } from "../workspace/landing/merge.js";
import { setupHint } from "../workspace/project.js";
import { copiedFile, copiedInto } from "../workspace/trees.js";
import { createWorktree, makeReady as makeReadyAt, type Setup } from "../workspace/worktree/create.js";
import type { Worktree } from "../workspace/worktree/worktree.js";
import type { RunContext } from "./spec.js";

interface Making {
  records: string;
  slot: number;
  stop: AbortSignal;
  warn(text: string): void;
}

const SETUP_MS = 30 * 60_000;

/** Makes the checkout of a lane, unless it exists. Returns the files that were copied into it. */
export async function makeReady(
  { spec, settings, env }: RunContext,
  { worktree: path, branch, base, lane }: LaneStart,
  { records, slot, stop, warn }: Making,
): Promise<string[]> {
  const repository = spec.workspace;
  const known = copiedInto(records);
  if (known !== undefined && existsSync(path)) return known;
  // A checkout that was cut off while it was made is made again; a branch with work on it stays.
  await removeOwnWorktree(repository, path);
  const tip = await commitOf(repository, `refs/heads/${branch}`);
  const inside = relative(repositoryRoot(repository) ?? repository, repository);
  const worktree = { name: lane, branch, path, workspace: join(path, inside) };
  const setup = {
    from: base,
    command: settings.setup,
    timeoutMs: SETUP_MS,
    signal: stop,
    ...{ env, slot, tell: () => {} },
  };
  if (tip === base) await git(repository, ["update-ref", "-d", `refs/heads/${branch}`, tip]);
  const copied = await (tip === undefined || tip === base
    ? createWorktree(repository, worktree, setup)
    : again(repository, worktree, setup));
  const hint = setupHint(worktree.workspace, path, process.env);
  if (hint !== undefined) warn(hint);
  writeAtomic(copiedFile(records), JSON.stringify(copied));
  return copied;
}

/** The checkout of a branch with work on it, whose first one is gone. */
async function again(at: string, { name, path, branch, workspace }: Worktree, setup: Setup) {
  const { ok, stderr } = await git(at, ["worktree", "add", "--quiet", "--force", path, branch]);
  if (ok) return makeReadyAt(at, path, workspace, setup);
  const what = `cannot create the worktree of lane ${name} again: ${stderr.trim()}`;
  throw new RalphError(what, { code: "worktree_failed" });
}

/** Removes the worktree and the branch of a lane whose work has landed. */
export async function remove(repository: string, worktree: string, branch: string): Promise<void> {
  await removeOwnWorktree(repository, worktree);
  await git(repository, ["update-ref", "-d", `refs/heads/${branch}`]);
}
