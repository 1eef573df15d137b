import { join, relative } from "node:path";
import { z } from "zod";
import { RalphError } from "../../errors.js";
import { writeAtomic } from "../../records/files.js";
import { CHECK_TIMEOUT_MS } from "../../settings/limits.js";
import { type KnownText, putTextBack, putTextsBack } from "../../verify/protected/find.js";
import { commitFiles } from "../../verify/protected/in-git.js";
import type { ChecksSetup } from "../../verify/schedule.js";
import { stateOf, textAt } from "../../workspace/content.js";
import { repositoryRoot } from "../../workspace/git.js";
import { currentWork, type Work } from "../../workspace/uncommitted.js";
import { asChecks, type TaskCheck, withChecks } from "../checks.js";
import type { RecipeContext } from "../row.js";
import { type ReviewRules, storyFiles } from "./state.js";
import { type Finding, readTasks, type TaskList } from "./tasks.js";

export interface StoriesSpec extends ReviewRules {
  kind: "stories";
  /** The folder with tasks.json, from the workspace on. */
  dir: string;
  /** Whether reviews are asked of another agent. */
  hasReviewer: boolean;
  /** What was not committed when the run began, outside of that folder. */
  dirty: string[];
  /** The project's checks: they count where tasks.json has no commands of its own. */
  checks?: TaskCheck[] | undefined;
  /** Those of the command line. */
  moreChecks?: TaskCheck[] | undefined;
  /** Of the commands in tasks.json. */
  checkTimeoutMs?: number | undefined;
}

/** All checks of the stories, where tasks.json has these commands. */
export function checksFor(spec: StoriesSpec, commands: string[]): TaskCheck[] {
  const { checks = [], moreChecks = [], checkTimeoutMs = CHECK_TIMEOUT_MS } = spec;
  return withChecks(commands.length > 0 ? asChecks(commands, checkTimeoutMs) : checks, moreChecks);
}

export interface StoriesContext
  extends ChecksSetup,
    Pick<RecipeContext, "records" | "folderFor">,
    Partial<Pick<RecipeContext, "isShutIn" | "agentSandbox">> {
  /** Whether git has to be able to tell what is committed. */
  inRepository: boolean;
}

/** The stories of a workspace, and the rules that hold for them. */
export interface StoriesAt extends Pick<StoriesContext, "workspace" | "inRepository"> {
  spec: StoriesSpec;
  files: ReturnType<typeof storyFiles>;
}

/** A file from the top of the repository on, as git names it. */
export function ownPath(workspace: string, file: string): string {
  return relative(repositoryRoot(workspace) ?? workspace, join(workspace, file));
}

/** undefined: git cannot tell. */
export async function workIn({ workspace, inRepository }: StoriesAt): Promise<Work | undefined> {
  return inRepository ? currentWork(workspace) : { dirty: {} };
}

const List = z.custom<TaskList>((value) => readTasks(JSON.stringify(value)).tasks !== undefined);
const Texts = z.record(z.string(), z.string());

/** An iteration and where the stories stand, out of the agent's reach: in the records of the run. */
const TurnRecord = z.object({
  /** The iteration that was begun last. */
  iteration: z.number(),
  mode: z.enum(["implement", "review", "review-fix"]),
  /** Commands of tasks.json that the run began with, or that a person added since. */
  commands: z.array(z.string()),
  before: List,
  /** Left out until the iteration was verified. */
  after: List.optional(),
  /** The text of tasks.json that the agent left. */
  left: z.string().optional(),
  /** States of the files while no agent is at work: what differs when the run goes on is a person's doing. */
  rest: Texts.optional(),
  /** Files of the stories that a person changed since the run was stopped or paused: they count as they are. */
  changed: z.array(z.string()),
  /** The commit, and what was not committed, when the iteration began. */
  work: z.object({ head: z.string().optional(), dirty: Texts }).optional(),
  /** What agents left uncommitted, by path. */
  blamed: z.array(z.string()),
  /** Files that checks were seen to write. */
  byChecks: z.array(z.string()),
  /** The texts of prd.md and prompt.md. */
  readOnly: Texts,
});

export type Turn = z.infer<typeof TurnRecord>;

const FILE = "stories.json";

export function readTurn(records: string): Turn | undefined {
  const path = join(records, FILE);
  const text = textAt(path, Number.POSITIVE_INFINITY);
  if (text === undefined) return undefined;
  try {
    return TurnRecord.parse(JSON.parse(text));
  } catch (error) {
    throw new RalphError(`the record of the stories cannot be read: ${path}`, {
      code: "stories_damaged",
      hint: "start a new run with ralph stories run",
      cause: error,
    });
  }
}

/** A run over stories. Its records are for a later process: this one believes its own memory. */
export interface StoriesRun extends StoriesAt, StoriesContext {
  /** undefined before the first iteration. */
  known: Turn | undefined;
  /** Whether the files are a person's since the last iteration: after a pause, or in a new process. */
  isReleased: boolean;
  /** The text of `.ralph-active`. */
  active: string | undefined;
  /** What was changed between the last iteration and this one, when it was nobody's turn. */
  meanwhile: Finding[];
  /** Files that were put back and are not committed yet. */
  putBack: Set<string>;
}

export function openRun(spec: StoriesSpec, context: StoriesContext): StoriesRun {
  const known = readTurn(context.records);
  const files = storyFiles(spec.dir);
  const fresh = { isReleased: true, active: undefined, meanwhile: [], putBack: new Set<string>() };
  return { ...context, spec, files, known, ...fresh };
}

export function keep(run: StoriesRun, turn: Turn): Turn {
  run.known = turn;
  writeAtomic(join(run.records, FILE), `${JSON.stringify(turn)}\n`);
  return turn;
}

/** The files of the stories, each with a word that tells one content from another. */
export function statesOf({ files, workspace }: StoriesAt): Record<string, string> {
  const names = [files.tasks, files.prd, files.prompt, files.progress];
  return Object.fromEntries(
    names.map((file) => [file, stateOf(join(workspace, file), Number.POSITIVE_INFINITY)]),
  );
}

/** Puts back what no agent may change, and `more`, where it was changed. */
export function restore(run: StoriesRun, iteration: number, more: KnownText[] = []) {
  const { workspace, files, active, folderFor } = run;
  const { [files.prd]: prd, [files.prompt]: prompt } = run.known?.readOnly ?? {};
  const own: KnownText[] = [
    { file: files.prd, text: prd, kept: join(folderFor(iteration), "prd.md") },
    { file: files.prompt, text: prompt, kept: join(folderFor(iteration), "prompt.changed.md") },
    { file: files.active, text: active },
  ];
  const known = [...own.filter(({ text }) => text !== undefined), ...more];
  return putTextsBack(workspace, known).map(({ file, text, kept }) => {
    if (file !== files.active && text !== undefined) run.putBack.add(file);
    const whose = file === files.active ? "is ralph's own" : "is read-only";
    const where = kept === undefined ? "" : ` (ralph kept the changed version as ${kept})`;
    return { file, what: `${file} ${whose}, but it changed: ralph restored it${where}` };
  });
}

export function writeTasks({ workspace, files, putBack }: StoriesRun, tasks: TaskList): void {
  putTextBack(workspace, files.tasks, `${JSON.stringify(tasks, null, 2)}\n`);
  putBack.add(files.tasks);
}

/** What was put back is committed as well, and nothing else; where git refuses, the next iteration finds that. */
export async function commitBack({ workspace, inRepository, putBack }: StoriesRun): Promise<void> {
  const names = [...putBack];
  putBack.clear();
  if (inRepository) await commitFiles(workspace, names);
}
