import { join, relative } from "node:path";
import type { LandingEvents as Events, FileChange } from "../events.js";
import type { Clock, Signals } from "../loop/effects.js";
import type { StoriesSpec } from "../recipes/stories/run.js";
import { storyFiles } from "../recipes/stories/state.js";
import { readTasks, type Story, type TaskList } from "../recipes/stories/tasks.js";
import type { RunState } from "../records/run-state.js";
import { fileChanges } from "../workspace/changes.js";
import { git, namesIn, pairsIn, repositoryRoot } from "../workspace/git.js";
import type { LandingRequest } from "../workspace/landing/land.js";
import { commitOf, type MergedFiles } from "../workspace/landing/merge.js";
import type { LaneStart } from "./lanes.js";
import { createSlots } from "./streams.js";

interface LaneProver extends Required<Pick<LandingRequest, "verify" | "verified">> {
  proof(commit: string): { receipt: string } | { unproven: string };
}

export interface StoriesSetup {
  run: string;
  /** The project, and the commit that the run began with. */
  repository: string;
  base: string;
  spec: StoriesSpec;
  signals: Signals;
  clock: Clock;
  isPaused(): boolean;
  /** Where the checkout of a lane is, and its branch. */
  placeOf(lane: string): Pick<LaneStart, "worktree" | "branch">;
  /** Folder of a lane's records. */
  folderOf(lane: string): string;
  /** They verify what lands; none: the user allows that. */
  checks: Events["landing.started"]["checks"];
  /** The checkout in which the queue makes its merges. */
  queue: string;
  /** Verifies the landing of a lane that has this number in that checkout, and keeps the proof. */
  prover(lane: string, number: number): LaneProver;
  /** Takes away the checkout and the branch of a lane whose work has landed. */
  remove(lane: Pick<LaneStart, "worktree" | "branch">, slot: number): Promise<void>;
  /** Takes away the checkout of the queue. */
  removeQueue(): Promise<void>;
}

/** A list of stories that several lanes work on. */
export interface Stories extends StoriesSetup {
  state: RunState;
  /** The branch of the run, and its full name. */
  branch: string;
  target: string;
  /** Its commit, and the stories as they stand there. */
  tip: string;
  tasks: TaskList | undefined;
  /** The lanes of the stories, by their ids. */
  names: Map<string, string>;
  /** Their files, from the top of the repository on. */
  own: Record<"tasks" | "progress", string>;
  /** One landing at a time. */
  turn: ReturnType<typeof createSlots>;
  /** What lanes have committed: the commit, and the files that differ from where the lane began. */
  heads: Map<string, { head: string; files: string[] }>;
  /** The same as they are in commits. */
  texts: Map<string, Promise<MergedFiles>>;
  /** The same in the latest merge. */
  merged: MergedFiles;
  /** What lanes that have not begun are known to wait for. */
  waits: Map<string, string>;
}

export function listFor(setup: StoriesSetup, state: RunState): Stories {
  const { run, repository, base, spec } = setup;
  return {
    ...{ ...setup, state, branch: `ralph/${run}`, target: `refs/heads/ralph/${run}`, tip: base },
    ...{ tasks: undefined, names: new Map(), own: ownFiles(repository, spec.dir), turn: createSlots(1) },
    ...{ heads: new Map(), texts: new Map(), merged: {}, waits: new Map() },
  };
}

/** Reads where the stories stand on the branch of the run. */
export async function refresh(stories: Stories): Promise<void> {
  const { repository, target, base, own } = stories;
  stories.tip = (await commitOf(repository, target)) ?? base;
  stories.tasks = readTasks((await textsIn(stories, stories.tip))[own.tasks]).tasks ?? stories.tasks;
  stories.names = laneNames(stories.tasks?.userStories ?? []);
}

const MOST_TEXTS = 8;

/** The files of the stories as a commit has them. They never change, so only what git cannot read is asked for again. */
export function textsIn({ repository, texts, own }: Stories, commit: string): Promise<MergedFiles> {
  const known = texts.get(commit);
  if (known !== undefined) return known;
  const files = Object.values(own);
  const names = files.map((file) => `${commit}:${file}`);
  const read = textsOf(repository, names).then((found) => {
    if (found.includes("")) texts.delete(commit);
    return Object.fromEntries(files.map((file, at) => [file, found[at] ?? ""]));
  });
  texts.set(commit, read);
  const [oldest = commit] = texts.keys();
  if (texts.size > MOST_TEXTS) texts.delete(oldest);
  return read;
}

export function storyIn({ tasks, names }: Stories, lane: string): Story {
  return tasks?.userStories.find(({ id }) => names.get(id) === lane) as Story;
}

/** From the top of the repository on. */
export function ownFiles(repository: string, dir: string): Stories["own"] {
  const { tasks, progress } = storyFiles(dir);
  const above = relative(repositoryRoot(repository) ?? repository, repository);
  return { tasks: join(above, tasks), progress: join(above, progress) };
}

const MAX_NAME_CHARS = 80;

/** A name for each story that can be the end of a branch and a folder, and that no other one has. */
export function laneNames(stories: Pick<Story, "id">[]): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { id } of stories) {
    const plain =
      id
        .replace(/[^\w.-]+|\.{2,}|^[.-]+|\.(?:lock)?$/g, "-")
        .replace(/^-+/, "")
        .slice(0, MAX_NAME_CHARS) || "story";
    let name = plain;
    for (let number = 2; taken.has(name.toLowerCase()); number += 1) name = `${plain}-${number}`;
    taken.add(name.toLowerCase());
    names.set(id, name);
  }
  return names;
}

/** The texts of files, each named as `COMMIT:PATH`; empty where there is none. */
export async function textsOf(repository: string, names: string[]): Promise<string[]> {
  const stdin = names.map((name) => `${name}\n`).join("");
  const { stdout } = await git(repository, ["cat-file", "--batch"], { stdin, encoding: "latin1" });
  let at = 0;
  return names.map(() => {
    const begin = stdout.indexOf("\n", at) + 1;
    const [, kind, size] = /(\w+) (\d+)\n$/.exec(stdout.slice(at, begin)) ?? [];
    at = begin + Number(size ?? -1) + 1;
    return kind === "blob" ? Buffer.from(stdout.slice(begin, at - 1), "latin1").toString() : "";
  });
}

const DIFF = ["diff-tree", "-r", "-z", "--no-renames", "--no-relative"];

/** The files that differ between two commits, from the top of the repository on. */
export async function filesBetween(repository: string, from: string, to: string): Promise<string[]> {
  return namesIn((await git(repository, [...DIFF, "--name-only", from, to])).stdout);
}

/** The same with what was done to each. */
export async function changesBetween(repository: string, from: string, to: string): Promise<FileChange[]> {
  const [counts, kinds] = await Promise.all([
    git(repository, [...DIFF, "--numstat", from, to]),
    git(repository, [...DIFF, "--name-status", from, to]),
  ]);
  return fileChanges(
    namesIn(counts.stdout),
    new Map(pairsIn(kinds.stdout).map(([how, path]) => [path, how])),
  );
}

/** A word that is the same for the same changes, wherever they stand; `except`: files that do not count. */
export async function patchBetween(
  repository: string,
  [from, to]: [from: string | undefined, to: string],
  except: string[],
): Promise<string> {
  const paths = ["--", ...except.map((file) => `:(top,exclude,literal)${file}`)];
  const args = ["diff-tree", "-r", "-p", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"];
  const { stdout: stdin } = await git(repository, [...args, from ?? to, to, ...paths]);
  return (await git(repository, ["patch-id", "--stable"], { stdin })).stdout.split(" ")[0] ?? "";
}
