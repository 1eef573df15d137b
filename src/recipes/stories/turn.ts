import { RalphError } from "../../errors.js";
import type { PlanContext } from "../../loop/recipe.js";
import type { Work } from "../../workspace/work.js";
import type { Finding } from "./finding.js";
import { blamedIn, type Held, judgeTasks, tasksText, workIn } from "./judge.js";
import { readTasks } from "./list-check.js";
import { mended, merged, withoutNewPasses, written } from "./restore.js";
import { isSameList, storiesIn } from "./same-list.js";
import { tasksToStart } from "./start-list.js";
import type { Restoring, StoriesContext, StoriesSpec } from "./stories.js";
import { ownPath, restOf, storyFiles } from "./story-files.js";
import { modeOf, type TaskList } from "./tasks.js";
import type { Rest, Trusted, TrustedStore } from "./trusted.js";

export interface Believing extends Restoring {
  trusted: TrustedStore;
}

/** An iteration as it began. */
export interface Turn extends Omit<Trusted, "rest" | "after"> {
  /** What was changed when it was nobody's turn. */
  meanwhile: Finding[];
  /** Files of the stories that a person changed since the run was stopped or paused: they count as they are. */
  changed: string[];
  /** The agent that had it before was cut off: what it did to the files of the stories is undone. */
  isCutOff?: true;
  /** The agent has answered in an earlier process: the text of tasks.json that it left. */
  answered?: { text: string | undefined; theirs: Theirs | undefined };
}

/** What a person made of tasks.json, and what was there before. */
export interface Theirs {
  now: TaskList;
  left: TaskList | undefined;
  commands: string[];
}

/**
 * What is believed is what the last iteration was verified to leave behind, and what a person changed since the run
 * was stopped or paused. What an agent did that was cut off is no review.
 */
export async function beginTurn(
  spec: StoriesSpec,
  context: Believing,
  { iteration, answered }: Pick<PlanContext, "iteration" | "answered">,
  wasReleased: boolean,
): Promise<Turn> {
  const trusted = context.trusted.read();
  if (trusted === undefined) return firstTurn(spec, context, iteration);
  const isTheirs = wasReleased || context.trusted.isLeftBehind();
  if (isTheirs) refuseOther(spec, context, trusted.after ?? trusted.before);
  const since = sinceThen(spec, context, trusted, isTheirs);
  const isAgain = trusted.iteration === iteration;
  if (!isAgain || !answered)
    return nextTurn(spec, context, trusted, { iteration, isAgain, isTheirs, ...since });
  const { rest, changed, theirs } = since;
  if (rest === undefined) return { ...trusted, meanwhile: [], changed };
  const work = withTheirs(trusted, await workIn(context));
  return { ...trusted, work, meanwhile: [], changed, answered: { text: rest.tasks, theirs } };
}

/** What is not committed, and was not when the agent was ended, is a person's. */
function withTheirs({ work, blamed }: Trusted, now: Work | undefined): Work | undefined {
  const theirs = Object.entries(now?.dirty ?? {}).filter(([file]) => !blamed.includes(file));
  return work && { ...work, dirty: { ...work.dirty, ...Object.fromEntries(theirs) } };
}

/** What a person has changed since the run was stopped or paused. */
interface Since {
  rest: Rest | undefined;
  changed: string[];
  theirs: Theirs | undefined;
}

function sinceThen(spec: StoriesSpec, context: Believing, trusted: Trusted, isTheirs: boolean): Since {
  const { rest } = trusted;
  if (!isTheirs || rest === undefined) return { rest: undefined, changed: [], theirs: undefined };
  const changed = changedSince(spec, context, rest);
  const isPlanned = changed.includes(storyFiles(spec.dir).tasks);
  return { rest, changed, theirs: isPlanned ? theirsIn(spec, context, trusted, rest) : undefined };
}

async function nextTurn(
  spec: StoriesSpec,
  context: Believing,
  trusted: Trusted,
  {
    iteration,
    isAgain,
    isTheirs,
    rest,
    changed,
    theirs,
  }: Since & { iteration: number; isAgain: boolean; isTheirs: boolean },
): Promise<Turn> {
  const known = (isAgain ? trusted.before : trusted.after) ?? tasksToStart(spec, context.workspace);
  const held: Held = { mode: null, before: known, commands: trusted.commands, failing: [] };
  const judged = judgeTasks(spec, rest?.tasks ?? tasksText(spec, context), held);
  const sound = mended(spec, context, judged, held, iteration);
  const own = spec.skipReview ? withoutNewPasses(sound, known) : sound;
  const before = theirs === undefined ? own : merged(theirs, own);
  written(spec, context, theirs?.now ?? judged.tasks, before);
  const isCutOff = isAgain && trusted.rest === undefined;
  const work = await workIn(context);
  return begun(spec, context, {
    iteration,
    before,
    commands: theirs?.commands ?? trusted.commands,
    work,
    blamed: (isCutOff ? blamedIn(spec, trusted, work) : undefined) ?? trusted.blamed,
    byChecks: trusted.byChecks,
    // What an agent did that was cut off is undone without a word.
    meanwhile: isAgain || isTheirs ? [] : judged.findings,
    changed,
    ...(isCutOff && { isCutOff }),
  });
}

/** What is not committed of the files of the stories is left to the agents to commit. */
async function firstTurn(spec: StoriesSpec, context: Believing, iteration: number): Promise<Turn> {
  const before = tasksToStart(spec, context.workspace);
  const work = await workIn(context);
  const own = `${ownPath(context.workspace, spec.dir)}/`;
  const blamed = Object.keys(work?.dirty ?? {}).filter((file) => file.startsWith(own));
  const commands = before.verifyCommands ?? [];
  return begun(spec, context, {
    ...{ iteration, before, commands, work, blamed, byChecks: [], meanwhile: [], changed: [] },
  });
}

function begun(spec: StoriesSpec, { trusted }: Believing, turn: Omit<Turn, "mode">): Turn {
  const mode = modeOf(turn.before, spec);
  const { iteration, before, commands, work, blamed, byChecks } = turn;
  trusted.write({ iteration, mode, before, commands, work, blamed, byChecks });
  return { ...turn, mode };
}

/** A person who has planned something else since then does not want the old stories back. */
function refuseOther(spec: StoriesSpec, context: StoriesContext, before: TaskList): void {
  const stories = storiesIn(tasksText(spec, context));
  // Half a file is what an agent leaves that is cut off.
  if (stories === undefined || stories.length === 0 || isSameList(stories, before)) return;
  throw new RalphError(`${storyFiles(spec.dir).tasks} holds other stories than this run began with`, {
    code: "stories_replaced",
    hint: "start a new run with ralph stories run",
    isFinal: true,
  });
}

function changedSince(spec: StoriesSpec, context: StoriesContext, rest: Rest): string[] {
  const { tasks } = storyFiles(spec.dir);
  const now = restOf(spec.dir, context.workspace, tasksText(spec, context));
  const others = Object.keys(now.others).filter((file) => now.others[file] !== rest.others[file]);
  return [...(now.tasks === rest.tasks ? [] : [tasks]), ...others];
}

/** Commands that a person wrote are trusted; those that an agent had added are not. */
function theirsIn(
  spec: StoriesSpec,
  { workspace }: StoriesContext,
  { commands }: Trusted,
  rest: Rest | undefined,
): Theirs {
  const now = tasksToStart(spec, workspace);
  const left = readTasks(rest?.tasks).tasks;
  const added = (left?.verifyCommands ?? []).filter((command) => !commands.includes(command));
  return {
    now,
    left,
    commands: (now.verifyCommands ?? []).filter((command) => !added.includes(command)),
  };
}
