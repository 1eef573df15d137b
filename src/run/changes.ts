import { existsSync } from "node:fs";
import type { Captured } from "../process/capture.js";
import type { RunFolder } from "../records/runs.js";
import { type GitOptions, git, namesIn, repositoryRoot } from "../workspace/git.js";
import { commitOf } from "../workspace/landing/merge.js";
import { readingTrees, treeNow, treesIn } from "../workspace/trees.js";
import { branchOf } from "../workspace/worktree/worktree.js";
import { type RunSpec, readSpec } from "./spec.js";

/** What a run, or one of its iterations, changed: the difference between two trees of git. */
export interface RunChanges {
  repository: string;
  from: string;
  to: string;
  /** Files of which only one side is known. */
  unknown: string[];
  /** `git` with what it needs to read them; `args` come before the two trees. */
  diff(args: string[], options?: GitOptions): Promise<Captured>;
  /** The words of such a command, for a terminal. */
  words(args: string[]): { args: string[]; env: Record<string, string> };
}

/** `iteration`: only that one. A string says why the changes are unknown. */
export async function changesOf(run: RunFolder, iteration?: number): Promise<RunChanges | string> {
  const spec = readSpec(run);
  const repository = repositoryFor(spec);
  if (repository === undefined) return `run ${run.id} did not work in a git repository, so there is no diff`;
  const state = run.state();
  const trees = await treesIn(run.path, repository);
  const ends =
    iteration === undefined
      ? await wholeOf(run, spec, repository, trees)
      : ofIteration(iteration, state?.iterations ?? 0, trees);
  if (typeof ends === "string") return ends;
  const [from, to] = ends;
  const { env } = readingTrees(run.path);
  const unknown = await missingIn(repository, from, to, env);
  const without = unknown.map((file) => `:(top,exclude,literal)${file}`);
  const words = (args: string[]): string[] => [...args, from, to, "--", ":/", ...without];
  return {
    ...{ repository, from, to, unknown },
    diff: (args, options) => git(repository, words(args), { ...options, env }),
    words: (args) => ({ args: words(args), env }),
  };
}

/** The worktree, or the folder that it was made from once the worktree is gone. */
function repositoryFor({ workspace, origin, base }: RunSpec): string | undefined {
  if (base === undefined) return undefined;
  const found = [workspace, origin].find((path) => path !== undefined && existsSync(path));
  return found === undefined ? undefined : repositoryRoot(found);
}

type Ends = [from: string, to: string] | string;

async function wholeOf(
  run: RunFolder,
  { workspace, worktree, base = "", copied = [] }: RunSpec,
  repository: string,
  trees: Map<number, string>,
): Promise<Ends> {
  const from = trees.get(0) ?? base;
  const state = run.state();
  const last = [...trees].sort(([a], [b]) => a - b).at(-1)?.[1];
  const branch =
    state?.finished?.worktree === null && worktree === undefined ? undefined : branchFor(worktree);
  const tip = branch === undefined ? undefined : await commitOf(repository, `refs/heads/${branch}`);
  const isOver = state?.status === "finished";
  const now = isOver || !existsSync(workspace) ? undefined : await treeNow(workspace, run.path, copied);
  const to = now ?? (trees.has(0) ? last : undefined) ?? tip;
  return to === undefined ? `nothing is recorded of what run ${run.id} changed` : [from, to];
}

function branchFor(worktree: string | undefined): string | undefined {
  return worktree === undefined ? undefined : branchOf(worktree);
}

function ofIteration(iteration: number, finished: number, trees: Map<number, string>): Ends {
  if (iteration < 1 || iteration > finished)
    return finished === 0
      ? "no iteration has ended yet"
      : `there is no iteration ${iteration}: it is a number from 1 to ${finished}`;
  const at = (most: number): string | undefined =>
    [...trees]
      .filter(([one]) => one <= most)
      .sort(([a], [b]) => a - b)
      .at(-1)?.[1];
  const [from, to] = [at(iteration - 1), at(iteration)];
  if (from === undefined || to === undefined) return "the files of the iterations were not recorded";
  return [from, to];
}

/** Where there are many new files, ralph records only their digests. */
async function missingIn(
  repository: string,
  from: string,
  to: string,
  env: Record<string, string>,
): Promise<string[]> {
  const raw = namesIn(
    (await git(repository, ["diff-tree", "-r", "-z", "--no-renames", from, to], { env })).stdout,
  );
  // `:mode mode id id letter`, then the path.
  const entries = raw.flatMap((field, at) =>
    at % 2 === 0
      ? field
          .split(" ")
          .slice(2, 4)
          .map((id) => [id, raw[at + 1] ?? ""] as const)
      : [],
  );
  const stdin = entries.map(([id]) => `${id}\n`).join("");
  const { stdout } = await git(repository, ["cat-file", "--batch-check"], { env, stdin });
  const gone = new Set(stdout.split("\n").flatMap((line) => /^(?!0+ )(\w+) missing$/.exec(line)?.[1] ?? []));
  return [...new Set(entries.filter(([id]) => gone.has(id)).map(([, file]) => file))];
}
