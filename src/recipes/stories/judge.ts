import { join } from "node:path";
import type { Failure } from "../../verify/failure.js";
import { textAt } from "../../workspace/content.js";
import { RUNTIME_FOLDER } from "../../workspace/runtime.js";
import { editedBetween, lookAtWork, type Work } from "../../workspace/work.js";
import type { Finding } from "./finding.js";
import { checkCommitted, checkTasks } from "./rules.js";
import { snapshotOf } from "./snapshot.js";
import type { StoriesContext, StoriesSpec } from "./stories.js";
import { ownPath, storyFiles } from "./story-files.js";
import type { Mode, TaskList } from "./tasks.js";
import type { Trusted } from "./trusted.js";

/** What the stories are held against: where they stood, and whose turn it is. */
export interface Held {
  mode: Mode | null;
  before: TaskList;
  /** Verify commands that the run began with. */
  commands: string[];
  failing: string[];
  /** Files that a review edited and may not edit. */
  edited?: string[] | undefined;
}

export interface Judged {
  /** undefined: what is there is no list of stories. */
  tasks: TaskList | undefined;
  /** As it stands in the file. */
  text: string | undefined;
  findings: Finding[];
}

type Place = Pick<StoriesContext, "workspace" | "inRepository">;

export function tasksText({ dir }: Pick<StoriesSpec, "dir">, { workspace }: Pick<Place, "workspace">) {
  return textAt(join(workspace, storyFiles(dir).tasks));
}

/** Judges the text of tasks.json. */
export function judgeTasks(spec: StoriesSpec, text: string | undefined, held: Held): Judged {
  const { name, before } = { name: storyFiles(spec.dir).tasks, before: snapshotOf(held.before) };
  const { tasks, findings } = checkTasks(text, { ...spec, ...held, name, before });
  return {
    tasks,
    text,
    findings: [...findings, ...commandFindings(tasks, held.commands), ...editFindings(tasks, held)],
  };
}

/** An agent that takes a check away would pass it. What an agent added itself may go again. */
function commandFindings(now: TaskList | undefined, commands: string[]): Finding[] {
  const lost = commands.filter((command) => !now?.verifyCommands?.includes(command));
  if (now === undefined || lost.length === 0) return [];
  return [
    {
      check: 2.5,
      field: "verifyCommands",
      message: `verifyCommands lost "${lost[0]}". Commands may be added, and none that the run began with may be taken away.`,
    },
  ];
}

const MAX_NAMED = 3;

/** A review that mends the work would approve what nobody has reviewed. One that asks for changes keeps its word. */
function editFindings(now: TaskList | undefined, { mode, before, edited = [] }: Held): Finding[] {
  const [file] = edited;
  if (mode !== "review" || now === undefined || file === undefined) return [];
  const more = edited.length > MAX_NAMED ? ` and ${edited.length - MAX_NAMED} more` : "";
  const what = `A review changes tasks.json and progress.txt alone, and this one changed ${edited.slice(0, MAX_NAMED).join(", ")}${more}.`;
  const old = snapshotOf(before);
  const approved = now.userStories.filter(
    ({ id, passes, reviewStatus }) =>
      (passes || reviewStatus === "approved") && old.get(id)?.reviewStatus !== "approved",
  );
  if (approved.length === 0) return [{ check: 2.5, file, message: what }];
  return approved.map(({ id }) => ({
    check: 2.5,
    story: id,
    field: "reviewStatus",
    message: `Story ${id} is not approved. ${what} Another review looks at it as it is now.`,
  }));
}

/** How an iteration began, and what verify commands have written since the run began. */
type Begun = Pick<Trusted, "work" | "blamed" | "byChecks">;

/** What agents have not committed; what was not committed before they began, and is as it was, is not theirs. */
export function blamedIn(
  { dirty }: StoriesSpec,
  { work, blamed }: Pick<Begun, "work" | "blamed">,
  now: Work | undefined,
): string[] | undefined {
  if (now === undefined) return undefined;
  const isUsers = (file: string): boolean =>
    dirty.some((path) => file === path || (path.endsWith("/") && file.startsWith(path)));
  return Object.entries(now.dirty)
    .filter(([file, stamp]) => (work?.dirty[file] !== stamp || blamed.includes(file)) && !isUsers(file))
    .map(([file]) => file);
}

/** Files that were edited since the iteration began, but for those that a review may edit. */
export async function editedSince(
  spec: StoriesSpec,
  { workspace }: Pick<Place, "workspace">,
  { work, byChecks }: Pick<Begun, "work" | "byChecks">,
  now: Work | undefined,
): Promise<string[]> {
  if (work === undefined || now === undefined) return [];
  const { tasks, progress } = storyFiles(spec.dir);
  const allowed = [...byChecks, ...[tasks, progress].map((file) => ownPath(workspace, file))];
  const edited = await editedBetween(workspace, work, now);
  return edited.filter((file) => !allowed.includes(file) && !file.split("/").includes(RUNTIME_FOLDER));
}

export async function workIn({ workspace, inRepository }: Place): Promise<Work | undefined> {
  return inRepository ? lookAtWork(workspace) : { dirty: {} };
}

/** Why the agent may not stop yet, all of it in one text. */
export async function whyNot(
  spec: StoriesSpec,
  context: Place,
  turn: Omit<Held, "failing"> & Begun,
  failures: Failure[],
): Promise<string | undefined> {
  const now = await workIn(context);
  const edited = turn.mode === "review" ? await editedSince(spec, context, turn, now) : [];
  const held = { ...turn, edited, failing: failures.map(({ command }) => command) };
  const { findings } = judgeTasks(spec, tasksText(spec, context), held);
  const all = [...findings, ...checkCommitted(blamedIn(spec, turn, now))];
  return all.length === 0 ? undefined : all.map(({ message }) => message).join("\n\n");
}
