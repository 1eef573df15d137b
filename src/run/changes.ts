import { existsSync } from "node:fs";
import type { Capture } from "../process/run.js";
import { initialState, type RunState } from "../records/run-state.js";
import { RunFolder } from "../records/runs.js";
import { type GitOptions, git, pairsIn, repositoryRoot } from "../workspace/git.js";
import { commitOf } from "../workspace/landing/merge.js";
import { copiedInto, readingTrees, treeNow, treesIn } from "../workspace/trees.js";
import { branchOf } from "../workspace/worktree/worktree.js";
import { type RunSpec, readSpec } from "./spec.js";

/** What a run, or one of its iterations, changed: the difference between two trees of git. */
interface RunChanges {
  repository: string;
  from: string;
  to: string;
  /** Files of which only one side is known. */
  unknown: string[];
  /** `git` with what it needs to read them; `args` come before the two trees. */
  diff(args: string[], options?: GitOptions): Promise<Capture>;
  /** The words of such a command, for a terminal. */
  words(args: string[]): { args: string[]; env: Record<string, string> };
}

/** Of which part of a run the changes are wanted: a lane, an iteration, or an iteration of a lane. */
export interface Part {
  iteration?: number | undefined;
  lane?: string | undefined;
}

/** A string says why the changes are unknown. */
export async function changesOf(
  run: RunFolder,
  { iteration, lane }: Part = {},
): Promise<RunChanges | string> {
  const spec = readSpec(run);
  const repository = repositoryFor(spec);
  if (repository === undefined) return `run ${run.name()} did not work in a git repository: it has no diff`;
  const state = run.state() ?? initialState(run.id);
  const loop = loopIn(run, spec, state, lane);
  if (loop === undefined && (lane !== undefined || iteration !== undefined))
    return `run ${run.name()} works in lanes: ${Object.keys(state.lanes ?? {}).join(", ")}`;
  const ends = await (loop === undefined
    ? joinedOf(run, spec, state, repository)
    : endsOf(loop, iteration, repository));
  if (typeof ends === "string") return ends;
  const [from, to] = ends;
  const { env } = readingTrees(loop?.records ?? run.path);
  const unknown = await missingIn(repository, from, to, env);
  const without = unknown.map((file) => `:(top,exclude,literal)${file}`);
  const words = (args: string[]): string[] => [...args, from, to, "--", ":/", ...without];
  return {
    ...{ repository, from, to, unknown },
    diff: (args, options) => git(repository, words(args), { ...options, env }),
    words: (args) => ({ args: words(args), env }),
  };
}

/** What is known of one loop: that of a run, or of one of its lanes. */
interface Loop {
  records: string;
  iterations: number;
  isOver: boolean;
  workspace: string | undefined;
  /** Files that are there and no work of the loop. */
  copied: string[];
  base: string;
  branch: string | undefined;
}

/** undefined: the run has several loops, and none of them is called so. */
function loopIn(run: RunFolder, spec: RunSpec, state: RunState, lane: string | undefined): Loop | undefined {
  const isFinished = state.status === "finished";
  if (lane !== undefined) {
    const own = state.lanes?.[lane];
    if (own === undefined) return undefined;
    const records = new RunFolder(run.home, run.id, lane).path;
    const isOver = isFinished || own.state.status === "finished";
    return {
      ...{ records, isOver, iterations: own.state.iterations, copied: copiedInto(records) ?? [] },
      ...{ workspace: own.worktree, base: own.base ?? spec.base ?? "", branch: own.branch },
    };
  }
  if (spec.lanes !== undefined) return undefined;
  const { workspace, worktree, base = "", copied = [] } = spec;
  const branch = worktree === undefined ? undefined : branchOf(worktree);
  const { iterations } = state;
  return { records: run.path, iterations, isOver: isFinished, workspace, copied, base, branch };
}

/** The worktree, or the folder that it was made from once the worktree is gone. */
function repositoryFor({ workspace, origin, base }: RunSpec): string | undefined {
  if (base === undefined) return undefined;
  const found = [workspace, origin].find((path) => path !== undefined && existsSync(path));
  return found === undefined ? undefined : repositoryRoot(found);
}

type Ends = [from: string, to: string] | string;

async function endsOf(loop: Loop, iteration: number | undefined, repository: string): Promise<Ends> {
  const { records, workspace, copied, base, branch } = loop;
  const trees = await treesIn(records, repository);
  if (iteration !== undefined) return ofIteration(iteration, loop.iterations, trees);
  const last = [...trees].sort(([a], [b]) => a - b).at(-1)?.[1];
  const tip = branch === undefined ? undefined : await commitOf(repository, `refs/heads/${branch}`);
  const isThere = !loop.isOver && workspace !== undefined && existsSync(workspace);
  const now = isThere ? await treeNow(workspace, records, copied) : undefined;
  const to = now ?? (trees.has(0) ? last : undefined) ?? tip;
  return to === undefined ? "ralph has no record of what it changed" : [trees.get(0) ?? base, to];
}

/** What several lanes have made together: the winner of a race, or all stories that have landed. */
async function joinedOf(run: RunFolder, spec: RunSpec, state: RunState, repository: string): Promise<Ends> {
  const branch = state.finished?.branch ?? `ralph/${run.id}`;
  const landed = Object.values(state.landings ?? {}).find(({ type }) => type === "landing.landed");
  const tip = (await commitOf(repository, `refs/heads/${branch}`)) ?? landed?.tip;
  return tip === undefined ? "no lane has won or landed so far" : [spec.base ?? "", tip];
}

function ofIteration(iteration: number, finished: number, trees: Map<number, string>): Ends {
  if (iteration < 1 || iteration > finished)
    return finished === 0
      ? "no iteration has ended yet"
      : `there is no iteration ${iteration}: give a number from 1 to ${finished}`;
  const at = (most: number): string | undefined =>
    [...trees]
      .filter(([one]) => one <= most)
      .sort(([a], [b]) => a - b)
      .at(-1)?.[1];
  const [from, to] = [at(iteration - 1), at(iteration)];
  if (from === undefined || to === undefined) return "ralph did not record the files of the iterations";
  return [from, to];
}

/** Where there are many new files, ralph records only their digests. */
async function missingIn(
  repository: string,
  from: string,
  to: string,
  env: Record<string, string>,
): Promise<string[]> {
  const { stdout: raw } = await git(repository, ["diff-tree", "-r", "-z", "--no-renames", from, to], { env });
  // `:mode mode id id letter`, then the path.
  const entries = pairsIn(raw).flatMap(([field, path]) =>
    field
      .split(" ")
      .slice(2, 4)
      .map((id) => [id, path] as const),
  );
  const stdin = entries.map(([id]) => `${id}\n`).join("");
  const { stdout } = await git(repository, ["cat-file", "--batch-check"], { env, stdin });
  const gone = new Set(stdout.split("\n").flatMap((line) => /^(?!0+ )(\w+) missing$/.exec(line)?.[1] ?? []));
  return [...new Set(entries.filter(([id]) => gone.has(id)).map(([, file]) => file))];
}
