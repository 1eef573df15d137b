import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { RalphError } from "../../errors.js";
import type { Violation } from "../../events.js";
import type { Answer, PlanContext } from "../../loop/recipe.js";
import { writeAtomic } from "../../records/files.js";
import { isTree } from "../../settings/merge.js";
import type { Failure } from "../../verify/failure.js";
import { textAt } from "../../workspace/content.js";
import { someOf } from "../../workspace/git.js";
import { RUNTIME_FOLDER } from "../../workspace/runtime.js";
import { editedBetween, isAmong, type Work } from "../../workspace/uncommitted.js";
import { checkCommitted, checkTasks, GIT_CANNOT_TELL, type Rules } from "./rules.js";
import {
  commitBack,
  keep,
  ownPath,
  restore,
  type StoriesAt,
  type StoriesRun,
  statesOf,
  type Turn,
  workIn,
  writeTasks,
} from "./run.js";
import { tasksIn } from "./start.js";
import { changesBetween, modeOf } from "./state.js";
import { type Finding, isSameList, mended, type Reading, readTasks, type TaskList, treeIn } from "./tasks.js";

/** Begins where the last iteration ended, or where a person left it; undoes what a crash cut off, unless all of it is done. */
export async function beginTurn(
  run: StoriesRun,
  { iteration, answered, failing }: Pick<PlanContext, "iteration" | "answered"> & { failing: string[] },
): Promise<{ turn: Turn; isDone?: boolean }> {
  const { known, files, spec, isReleased } = run;
  if (known !== undefined && isReleased) refuseOther(run, known);
  run.isReleased = false;
  const isAgain = known?.iteration === iteration;
  const rest = isReleased ? known?.rest : undefined;
  const now = statesOf(run);
  const changed = Object.keys(now).filter((file) => now[file] !== (rest ?? now)[file]);
  const readOnly = readOnlyTexts(run, changed);
  const isCutOff = isAgain && !answered && rest === undefined;
  const isDone =
    isCutOff &&
    hasMoved(run, known, failing) &&
    (await stopFindings(run, known, failing)).findings.length === 0;
  if (isAgain && (answered || isDone) && !changed.includes(files.tasks))
    return { turn: keep(run, { ...known, changed, readOnly, rest: undefined }), isDone };
  if (isCutOff) restore(run, iteration);
  const isPersons = known === undefined || rest !== undefined;
  if (isPersons) await fillIn(run);
  const work = await workIn(run);
  const list = isPersons ? personsList(run) : { ...known, before: nobodysList(run, known, iteration) };
  const turn = keep(run, {
    ...{ iteration, mode: modeOf(list.before, spec), work, changed, readOnly },
    ...{ before: list.before, commands: list.commands, byChecks: known?.byChecks ?? [] },
    blamed: (isCutOff && blamedIn(run, known, work)) || known?.blamed || ownFiles(run, work),
  });
  return { turn };
}

/** Whether a story has moved on as it may, though the agent said nothing. */
export function hasMoved(run: StoriesRun, turn: Turn, failing: string[]): boolean {
  const { tasks, findings } = judge(run, { ...turn, failing }, tasksText(run));
  if (tasks === undefined || findings.length > 0) return false;
  return changesBetween(turn.before, tasks, run.spec, turn.iteration).length > 0;
}

/** A list as a person left it. Its commands are trusted, but for those that an agent added. */
function personsList({ spec, workspace, known }: StoriesRun): Pick<Turn, "before" | "commands"> {
  const before = tasksIn(spec.dir, workspace, spec);
  const { verifyCommands: had = [] } = known?.after ?? known?.before ?? {};
  const isTrusted = (command: string) => known?.commands.includes(command) || !had.includes(command);
  return { before, commands: (before.verifyCommands ?? []).filter(isTrusted) };
}

/** Writes the fields that a person left out: agents get all of them, and have to keep them. */
async function fillIn(run: StoriesRun): Promise<void> {
  if (readTasks(tasksText(run)).tasks !== undefined) return;
  writeTasks(run, tasksIn(run.spec.dir, run.workspace, run.spec));
  await commitBack(run);
}

/** The list as it was last believed, where nobody may have changed it since. */
function nobodysList(run: StoriesRun, known: Turn, iteration: number): TaskList {
  const isAgain = known.iteration === iteration;
  const last = isAgain ? known.before : (known.after ?? known.before);
  const { before, findings } = unjudged(run, { ...known, iteration, before: last }, tasksText(run));
  if (!isAgain) run.meanwhile = findings;
  return before;
}

/** What is not committed of the files of the stories is left to the agents to commit. */
function ownFiles({ workspace, spec }: StoriesAt, work: Work | undefined): string[] {
  const own = `${ownPath(workspace, spec.dir)}/`;
  return Object.keys(work?.dirty ?? {}).filter((file) => file.startsWith(own));
}

/** prd.md counts as it was when the run began, or when a person changed it; prompt.md is the user's between two agents. */
function readOnlyTexts({ workspace, files, known }: StoriesRun, changed: string[]): Record<string, string> {
  const isKnown = known !== undefined && !changed.includes(files.prd);
  const prd = isKnown ? known.readOnly[files.prd] : textAt(join(workspace, files.prd));
  const prompt = textAt(join(workspace, files.prompt));
  return {
    ...(prd !== undefined && { [files.prd]: prd }),
    ...(prompt !== undefined && { [files.prompt]: prompt }),
  };
}

/** A person who has planned something else since then does not want the old stories back. */
function refuseOther(run: StoriesRun, { before, after = before }: Turn): void {
  const { userStories } = treeIn(tasksText(run));
  const stories = Array.isArray(userStories) ? userStories.filter(isTree) : [];
  // An agent that was cut off leaves half a file.
  if (stories.length === 0 || isSameList(stories, after)) return;
  throw new RalphError(`${run.files.tasks} no longer holds the stories that this run began with`, {
    code: "stories_replaced",
    hint: "start a new run with ralph stories run",
    isFinal: true,
  });
}

function tasksText({ files, workspace }: StoriesAt): string | undefined {
  return textAt(join(workspace, files.tasks));
}

function judge({ spec, files }: StoriesAt, held: Partial<Rules>, text: string | undefined): Reading {
  return checkTasks(text, { ...held, ...spec, name: files.tasks });
}

/** Writes the list as it was before, but for what agents may change at any time. */
function unjudged(run: StoriesRun, turn: Turn, text: string | undefined) {
  const reading = judge(run, { ...turn, mode: null }, text);
  return { before: settle(run, turn, text, reading, false), findings: reading.findings };
}

/** Writes the list without what was found. `isProven`: whether stories may be passed without a review. */
function settle(
  run: StoriesRun,
  { iteration, before, commands }: Turn,
  text: string | undefined,
  { tasks, findings }: Reading,
  isProven: boolean,
): TaskList {
  if (tasks === undefined && text !== undefined) writeAtomic(brokenFile(run, iteration), text);
  const passed = before.userStories.filter(({ passes }) => passes).map(({ id }) => id);
  // Without reviews, only ralph's own checks prove that a story is done.
  const unproven = (run.spec.skipReview && !isProven && tasks?.userStories) || [];
  const taken = unproven.filter(({ id, passes }) => passes && !passed.includes(id));
  const after = mended(tasks, before, commands, [...findings, ...taken.map(({ id }) => ({ story: id }))]);
  // A list that is there already keeps its layout.
  if (text !== tasksText(run) || !isDeepStrictEqual(tasks, after)) writeTasks(run, after);
  return after;
}

/** Where a tasks.json is kept that is no list of stories. */
function brokenFile({ folderFor }: StoriesRun, iteration: number): string {
  return join(folderFor(iteration), "tasks.broken.json");
}

/** What agents have not committed; what was not committed before they began, and is as it was, is not theirs. */
function blamedIn({ spec }: StoriesAt, turn: Turn | undefined, now: Work | undefined): string[] | undefined {
  const isTheirs = (file: string): boolean =>
    now?.dirty[file] !== turn?.work?.dirty[file] || turn?.blamed.includes(file) === true;
  return now && Object.keys(now.dirty).filter((file) => isTheirs(file) && !isAmong(file, spec.dirty));
}

/** Files that a review edited, but for those that it may edit. */
async function editedIn(
  { files, workspace }: StoriesAt,
  { mode, work, byChecks }: Turn,
  now: Work | undefined,
): Promise<string[]> {
  if (mode !== "review" || work === undefined || now === undefined) return [];
  const allowed = [...byChecks, ...[files.tasks, files.progress].map((file) => ownPath(workspace, file))];
  const edited = await editedBetween(workspace, work, now);
  return edited.filter((file) => !allowed.includes(file) && !file.split("/").includes(RUNTIME_FOLDER));
}

/** Why the agent may not stop yet. Without a turn, nobody knows what may change. */
export async function stopFindings(
  stories: StoriesAt,
  turn: Turn | undefined,
  failing: string[],
): Promise<Reading> {
  const now = await workIn(stories);
  const held = turn && { ...turn, failing, edited: await editedIn(stories, turn, now) };
  const { tasks, findings } = judge(stories, held ?? { isPersons: true }, tasksText(stories));
  return { tasks, findings: [...findings, ...checkCommitted(blamedIn(stories, turn, now))] };
}

/** What was there when the agent had ended: ralph judges this, whatever checks do later. */
export type Handover = Awaited<ReturnType<typeof takeOver>>;

/** Reads it once, and undoes what the agent did to the files that it may not change. */
export async function takeOver(run: StoriesRun, turn: Turn) {
  const { iteration } = turn;
  const { tasks, progress } = run.files;
  const now = tasksText(run);
  // What the agent left that answered in an earlier process was put back when that ended.
  const text = turn.left ?? now;
  const work = await workIn(run);
  const edited = await editedIn(run, turn, work);
  const files = [
    { file: tasks, text: now },
    { file: progress, text: textAt(join(run.workspace, progress)) },
  ];
  const changed = restore(run, iteration).map((one): Violation => ({ type: "violation", iteration, ...one }));
  // A link in the place of the folder is gone by now.
  if (changed.length > 0) restore(run, iteration, files);
  const blamed = blamedIn(run, turn, work);
  keep(run, { ...turn, left: text, blamed: blamed ?? turn.blamed });
  return { text, files, work, edited, changed, blamed };
}

/** What is known of an iteration when its agent has ended and its checks have run. */
export interface Ending {
  handover: Handover;
  answer: Answer;
  /** Whether the agent asks a human: what it has not done is not held against it. */
  asks: boolean;
  /** Checks that failed. */
  failures: Failure[];
}

const MEDDLED = `changed while the checks ran, so ralph restored it: no test or script may change it.`;
const COMMIT = "Commit all of them, with progress.txt and tasks.json.";

/** Judges what the agent left, and undoes what it may not do. `meddled`: what checks did, only told. */
export async function endTurn(run: StoriesRun, turn: Turn, { handover, answer, asks, failures }: Ending) {
  const { iteration, byChecks } = turn;
  const { text, work, edited, changed, blamed } = handover;
  const violation = (file: string, what: string): Violation => ({ type: "violation", iteration, file, what });
  const byCommands = restore(run, iteration, handover.files);
  const held = { ...turn, edited, failing: failures.map(({ command }) => command) };
  const { tasks, findings: all } = judge(run, held, text);
  // An agent that failed or asks need not have done anything yet; what a person has changed is not its work.
  const isExcused = answer.error !== null || asks || turn.changed.includes(run.files.tasks);
  const findings = all.filter(({ field }) => field !== undefined || !isExcused || tasks === undefined);
  // A review by an agent that failed does not count.
  const isVoid = turn.mode === "review" && answer.error !== null;
  const undone = isVoid ? [...findings, ...judge(run, { ...held, mode: null }, text).findings] : findings;
  const after = settle(run, turn, text, { tasks, findings: undone }, failures.length === 0);
  const isKept = tasks === undefined && text !== undefined;
  const where = `ralph restored the last good version and kept the broken one as ${brokenFile(run, iteration)}.`;
  const found = onePerStory([...run.meanwhile, ...findings]);
  const broken = found.map(({ message, story, file = run.files.tasks }): Violation => {
    const what = isKept ? `${message} ${where}` : message;
    return { type: "violation", iteration, what, ...(story === undefined ? { file } : { story }) };
  });
  run.meanwhile = [];
  const own = [...run.putBack].map((name) => ownPath(run.workspace, name));
  await commitBack(run);
  const { dirty = {} } = (await workIn(run)) ?? {};
  const isWritten = (file: string): boolean => dirty[file] !== work?.dirty[file] && !own.includes(file);
  keep(run, {
    ...{ ...turn, after, rest: statesOf(run) },
    // Where git has refused to commit it, the next iteration has to.
    blamed: [...new Set([...(blamed ?? []), ...own.filter((file) => file in dirty)])],
    byChecks: [...new Set([...byChecks, ...Object.keys(dirty).filter(isWritten)])],
  });
  const [first] = blamed ?? [];
  const uncommitted =
    first && blamed
      ? violation(first, `There are uncommitted changes: ${someOf(blamed, 1)}. ${COMMIT}`)
      : violation(".git", GIT_CANNOT_TELL);
  return {
    after,
    broken: [...broken, ...changed],
    meddled: byCommands.map(({ file }) => violation(file, `${file} ${MEDDLED}`)),
    uncommitted: blamed?.length === 0 ? [] : [uncommitted],
  };
}

/** A move that breaks a rule leaves a state that breaks another one: the move is what is reported. */
function onePerStory(findings: Finding[]): Finding[] {
  const moved = new Set(findings.filter(({ check }) => check === 2.5).map(({ story }) => story));
  return findings.filter(({ story, check }) => story === undefined || check === 2.5 || !moved.has(story));
}

/** The run ends or waits before a verdict: review fields go back; what the agent left is judged later. */
export async function closeTurn(run: StoriesRun, turn: Turn, known?: Handover): Promise<void> {
  const { text, files } = known ?? (await takeOver(run, turn));
  restore(run, turn.iteration, files);
  const { before } = unjudged(run, turn, text);
  await commitBack(run);
  keep(run, { ...(run.known ?? turn), before, rest: statesOf(run) });
}
