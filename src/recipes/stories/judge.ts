import { join } from "node:path";
import { writeAtomic } from "../../records/files.js";
import { RUNTIME_FOLDER } from "../../workspace/runtime.js";
import { editedBetween, type Work } from "../../workspace/uncommitted.js";
import { ownPath, type Stories, tasksText, workIn } from "./context.js";
import { merged, putBack, type Theirs, withoutNewPasses } from "./mend.js";
import { checkCommitted, checkTasks, snapshotOf } from "./rules.js";
import { putFileBack, type StoriesRun, type Trusted } from "./run.js";
import type { Mode } from "./state.js";
import type { Reading, TaskList } from "./tasks.js";

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

/** How an iteration began, and what verify commands have written since the run began. */
type Begun = Pick<Trusted, "work" | "blamed" | "byChecks">;

export function judge({ spec, files }: Stories, text: string | undefined, held: Held): Reading {
  return checkTasks(text, { ...spec, ...held, name: files.tasks, before: snapshotOf(held.before) });
}

interface Settling {
  text: string | undefined;
  theirs: Theirs | undefined;
  iteration: number;
  /** Whether stories may be passed without a review. */
  isProven: boolean;
}

/** Writes what becomes of the list: without what was found, with what a person changed meanwhile. */
export function settle(
  run: StoriesRun,
  { text, theirs, iteration, isProven }: Settling,
  { tasks, findings }: Reading,
  held: Held,
): TaskList {
  if (tasks === undefined && text !== undefined) writeAtomic(brokenFile(run, iteration), text);
  const mended = findings.length === 0 && tasks !== undefined ? tasks : putBack(tasks, held, findings);
  const isSound = mended === tasks || checkTasks(JSON.stringify(mended), run.spec).findings.length === 0;
  const whole = isSound ? mended : held.before;
  const own = run.spec.skipReview && !isProven ? withoutNewPasses(whole, held.before) : whole;
  const after = theirs === undefined ? own : merged(theirs, own);
  // A list that is there already keeps its layout.
  if (JSON.stringify(theirs?.now ?? tasks) !== JSON.stringify(after))
    putFileBack(run, run.files.tasks, `${JSON.stringify(after, null, 2)}\n`);
  return after;
}

/** Where a tasks.json is kept that is no list of stories. */
export function brokenFile({ folderFor }: StoriesRun, iteration: number): string {
  return join(folderFor(iteration), "tasks.broken.json");
}

/** What agents have not committed; what was not committed before they began, and is as it was, is not theirs. */
export function blamedIn(
  { spec }: Pick<Stories, "spec">,
  { work, blamed }: Pick<Begun, "work" | "blamed">,
  now: Work | undefined,
): string[] | undefined {
  if (now === undefined) return undefined;
  const isUsers = (file: string): boolean =>
    spec.dirty.some((path) => file === path || (path.endsWith("/") && file.startsWith(path)));
  return Object.entries(now.dirty)
    .filter(([file, stamp]) => (work?.dirty[file] !== stamp || blamed.includes(file)) && !isUsers(file))
    .map(([file]) => file);
}

/** Files that a review edited, but for those that it may edit. */
export async function editedIn(
  { files, workspace }: Stories,
  { mode, work, byChecks }: Begun & Pick<Held, "mode">,
  now: Work | undefined,
): Promise<string[]> {
  if (mode !== "review" || work === undefined || now === undefined) return [];
  const allowed = [...byChecks, ...[files.tasks, files.progress].map((file) => ownPath(workspace, file))];
  const edited = await editedBetween(workspace, work, now);
  return edited.filter((file) => !allowed.includes(file) && !file.split("/").includes(RUNTIME_FOLDER));
}

/** Why the agent may not stop yet. Without a turn, nobody knows what may change. */
export async function stopFindings(
  stories: Stories,
  turn: (Omit<Held, "failing"> & Begun) | undefined,
  failing: string[],
): Promise<Reading> {
  const now = await workIn(stories);
  const text = tasksText(stories);
  const { tasks, findings } =
    turn === undefined
      ? checkTasks(text, { ...stories.spec, name: stories.files.tasks })
      : judge(stories, text, { ...turn, failing, edited: await editedIn(stories, turn, now) });
  const uncommitted = checkCommitted(blamedIn(stories, turn ?? { blamed: [] }, now));
  return { tasks, findings: [...findings, ...uncommitted] };
}
