import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { z } from "zod";
import { RalphError } from "../../errors.js";
import { writeAtomic } from "../../records/files.js";
import { commitFiles } from "../../verify/protected/commit.js";
import { type KnownText, putTextBack, putTextsBack } from "../../verify/protected/disk.js";
import type { ChecksSetup } from "../../verify/schedule.js";
import { textAt } from "../../workspace/content.js";
import { repositoryRoot } from "../../workspace/git.js";
import { ACTIVE_FILE } from "../../workspace/runtime.js";
import { currentWork, type Work } from "../../workspace/uncommitted.js";
import type { RecipeContext } from "../row.js";
import { readTextFile } from "../text-file.js";
import type { ReviewRules } from "./state.js";
import { readTasks, type TaskList } from "./tasks.js";

/** Where the stories are unless the user says otherwise. */
export const STORIES_FOLDER = "ralph";

/** The files of a loop over stories, as names from the workspace on. */
export function storyFiles(dir: string) {
  return {
    tasks: join(dir, "tasks.json"),
    prd: join(dir, "prd.md"),
    progress: join(dir, "progress.txt"),
    prompt: join(dir, "prompt.md"),
    active: ACTIVE_FILE,
  };
}

export interface StoriesSpec extends ReviewRules {
  kind: "stories";
  /** The folder with tasks.json, from the workspace on. */
  dir: string;
  /** Whether reviews are asked of another agent. */
  hasReviewer: boolean;
  /** What was not committed when the run began, outside of that folder. */
  dirty: string[];
}

/** The role of the agent that reviews, where it is another one. */
export const REVIEWER = "reviewer";

export interface StoriesContext
  extends ChecksSetup,
    Pick<RecipeContext, "records" | "folderFor">,
    Partial<Pick<RecipeContext, "isShutIn" | "agentSandbox">> {
  /** Whether git has to be able to tell what is committed. */
  inRepository: boolean;
}

/** The stories of a workspace, and the rules that hold for them. */
export interface Stories extends Pick<StoriesContext, "workspace" | "inRepository"> {
  spec: StoriesSpec;
  files: ReturnType<typeof storyFiles>;
}

export function tasksText({ files, workspace }: Stories): string | undefined {
  return textAt(join(workspace, files.tasks));
}

/** A file from the top of the repository on, as git names it. */
export function ownPath(workspace: string, file: string): string {
  return relative(repositoryRoot(workspace) ?? workspace, join(workspace, file));
}

/** undefined: git cannot tell. */
export async function workIn({ workspace, inRepository }: Stories): Promise<Work | undefined> {
  return inRepository ? currentWork(workspace) : { dirty: {} };
}

const List = z.unknown().transform((value, context): TaskList => {
  const { tasks } = readTasks(JSON.stringify(value));
  if (tasks === undefined) context.addIssue({ code: "custom", message: "no list of stories" });
  return tasks ?? z.NEVER;
});

const Stamps = z.record(z.string(), z.string());

/** Where the stories stand, out of the agent's reach: in the records of the run. */
const Trusted = z.object({
  /** The iteration that was begun last. */
  iteration: z.number(),
  mode: z.enum(["implement", "review", "review-fix"]),
  /** Verify commands that the run began with. */
  commands: z.array(z.string()).optional(),
  before: List,
  /** Left out until the iteration was verified. */
  after: List.optional(),
  /**
   * The text of tasks.json, and a digest of each other file, while no agent is at work: what differs when the run goes
   * on is a person's doing.
   */
  rest: z.object({ tasks: z.string().optional(), others: Stamps }).optional(),
  /** The commit, and what was not committed, when the iteration began. */
  work: z.object({ head: z.string().optional(), dirty: Stamps }).optional(),
  /** What agents left uncommitted, by path. */
  blamed: z.array(z.string()).default([]),
  /** Files that verify commands were seen to write. */
  byChecks: z.array(z.string()).default([]),
});

export type Trusted = z.infer<typeof Trusted> & { commands: string[] };
export type Rest = NonNullable<Trusted["rest"]>;

const FILE = "stories.json";

export function readTrusted(records: string): Trusted | undefined {
  const path = join(records, FILE);
  const text = textAt(path, Number.POSITIVE_INFINITY);
  if (text === undefined) return undefined;
  try {
    const trusted = Trusted.parse(JSON.parse(text));
    return { ...trusted, commands: trusted.commands ?? trusted.before.verifyCommands ?? [] };
  } catch (error) {
    throw new RalphError(`the record of the stories cannot be read: ${path}`, {
      code: "stories_damaged",
      hint: "start a new run with ralph stories run",
      cause: error,
    });
  }
}

/** A run over stories. Its records are for a later process: this one believes its own memory. */
export interface StoriesRun extends Stories, Omit<StoriesContext, keyof Stories> {
  /** undefined before the first iteration. */
  known: Trusted | undefined;
  /** Whether an earlier process left `known`, and nothing was written since. */
  isLeftBehind: boolean;
  /** The texts of prd.md, prompt.md and `.ralph-active`, which no agent may change. */
  readOnly: Map<string, string>;
  /** Files that were put back and are not committed yet. */
  putBack: Set<string>;
}

export function openRun(spec: StoriesSpec, context: StoriesContext): StoriesRun {
  const files = storyFiles(spec.dir);
  const known = readTrusted(context.records);
  const readOnly = new Map<string, string>();
  for (const file of [files.prd, files.prompt]) {
    const text = textAt(join(context.records, basename(file)));
    if (text !== undefined) readOnly.set(file, text);
  }
  const isLeftBehind = known !== undefined;
  return { ...context, spec, files, known, isLeftBehind, readOnly, putBack: new Set() };
}

export function keep(run: StoriesRun, trusted: Trusted): void {
  run.known = trusted;
  run.isLeftBehind = false;
  writeAtomic(join(run.records, FILE), `${JSON.stringify(trusted)}\n`);
}

/** Keeps how the files of the stories are while no agent is at work, with what else is known by now. */
export function keepRest(run: StoriesRun, tasks: string | undefined, more: Partial<Trusted>): void {
  if (run.known !== undefined) keep(run, { ...run.known, ...more, rest: restOf(run, tasks) });
}

export function restOf({ files, workspace }: Stories, tasks: string | undefined): Rest {
  const digests = [files.prd, files.prompt, files.progress].map((file) => {
    const text = textAt(join(workspace, file));
    return [file, text === undefined ? "none" : createHash("sha256").update(text).digest("hex")];
  });
  return { ...(tasks !== undefined && { tasks }), others: Object.fromEntries(digests) };
}

/**
 * Before an agent is asked. prd.md counts as it is when the run begins, and when a person has changed it; prompt.md is
 * the user's between two agents. Returns the text of prompt.md.
 */
export function beginFiles(run: StoriesRun, active: string, isFirst: boolean, changed: string[]): string {
  const { workspace, files, readOnly } = run;
  putTextBack(workspace, files.active, active);
  readOnly.set(files.active, active);
  if ((isFirst && !readOnly.has(files.prd)) || changed.includes(files.prd)) take(run, files.prd);
  const prompt = readOnly.get(files.prompt);
  if (prompt !== undefined && textAt(join(workspace, files.prompt)) === undefined)
    putFileBack(run, files.prompt, prompt);
  take(run, files.prompt);
  return readTextFile("prompt template", files.prompt, workspace);
}

function take({ workspace, records, readOnly }: StoriesRun, file: string): void {
  const text = textAt(join(workspace, file));
  const copy = join(records, basename(file));
  readOnly.delete(file);
  rmSync(copy, { force: true });
  if (text === undefined) return;
  readOnly.set(file, text);
  writeAtomic(copy, text);
}

/** Puts back what no agent may change, and `more`, where it was changed. */
export function restore(run: StoriesRun, iteration: number, more: KnownText[] = []) {
  const { workspace, files, readOnly, folderFor } = run;
  const kept = { [files.prd]: "prd.md", [files.prompt]: "prompt.changed.md" };
  const known = [files.prd, files.prompt, files.active].flatMap((file): KnownText[] => {
    const text = readOnly.get(file);
    const name = kept[file];
    return text === undefined
      ? []
      : [{ file, text, ...(name && { kept: join(folderFor(iteration), name) }) }];
  });
  return putTextsBack(workspace, [...known, ...more]).map(({ file, text, kept }) => {
    if (file !== files.active && text !== undefined) run.putBack.add(file);
    const whose = file === files.active ? "is ralph's own" : "is read-only";
    const where = kept === undefined ? "" : ` (what it was changed to is kept as ${kept})`;
    return { file, what: `${file} ${whose}, and was changed: it was put back${where}` };
  });
}

type PutBack = Pick<StoriesRun, "workspace" | "inRepository" | "putBack">;

export function putFileBack({ workspace, putBack }: PutBack, name: string, text: string): void {
  putTextBack(workspace, name, text);
  putBack.add(name);
}

/** What was put back is committed as well, and nothing else; where git refuses, the next iteration finds that. */
export async function commitBack({ workspace, inRepository, putBack }: PutBack): Promise<void> {
  const names = [...putBack];
  putBack.clear();
  if (inRepository) await commitFiles(workspace, names);
}
