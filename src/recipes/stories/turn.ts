import { RalphError } from "../../errors.js";
import type { PlanContext } from "../../loop/recipe.js";
import { isTree } from "../../settings/merge.js";
import type { Work } from "../../workspace/uncommitted.js";
import { blamedIn, isSameList, judge, settle, type Theirs } from "./judge.js";
import { keep, ownPath, type Rest, restOf, type StoriesRun, type Trusted, tasksText, workIn } from "./run.js";
import { tasksToStart } from "./start.js";
import { modeOf } from "./state.js";
import { type Finding, readTasks, type Story, type TaskList, treeIn } from "./tasks.js";

/** An iteration as it began. */
export interface Turn extends Omit<Trusted, "rest" | "after"> {
  /** What was changed when it was nobody's turn. */
  meanwhile: Finding[];
  /** Files of the stories that a person changed since the run was stopped or paused: they count as they are. */
  changed: string[];
  /** The agent that had it before was cut off: what it did to the files of the stories is undone. */
  isCutOff?: boolean;
  /** The agent has answered in an earlier process: the tasks.json that it left, and what a person made of it. */
  left?: { text: string | undefined };
  theirs?: Theirs | undefined;
}

/**
 * Begins where the last iteration was verified to end, with what a person changed since the run was stopped or
 * paused. What an agent did that was cut off is no review, and is undone without a word.
 */
export async function beginTurn(
  run: StoriesRun,
  { iteration, answered }: Pick<PlanContext, "iteration" | "answered">,
  wasReleased: boolean,
): Promise<Turn> {
  const { known } = run;
  if (known === undefined) return firstTurn(run, iteration);
  const isTheirs = wasReleased || run.isLeftBehind;
  if (isTheirs) refuseOther(run, known.after ?? known.before);
  const since = isTheirs ? personsChanges(run, known) : { changed: [] };
  if (known.iteration !== iteration || !answered)
    return nextTurn(run, known, { iteration, isTheirs, ...since });
  const { rest, changed, theirs } = since;
  const turn = { ...known, meanwhile: [], changed };
  if (rest === undefined) return turn;
  return { ...turn, work: withTheirs(known, await workIn(run)), left: { text: rest.tasks }, theirs };
}

/** What a person changed since the run was stopped or paused; `rest`: how the files were then. */
interface Since {
  rest?: Rest | undefined;
  changed: string[];
  theirs?: Theirs | undefined;
}

function personsChanges(run: StoriesRun, { rest, commands }: Trusted): Since {
  if (rest === undefined) return { changed: [] };
  const text = restOf(run, tasksText(run));
  const others = Object.keys(text.others).filter((file) => text.others[file] !== rest.others[file]);
  if (text.tasks === rest.tasks) return { rest, changed: others };
  const now = tasksToStart(run.spec, run.workspace);
  const left = readTasks(rest.tasks).tasks;
  // Commands that a person wrote are trusted; those that an agent had added are not.
  const added = (left?.verifyCommands ?? []).filter((command) => !commands.includes(command));
  const trusted = (now.verifyCommands ?? []).filter((command) => !added.includes(command));
  return { rest, changed: [run.files.tasks, ...others], theirs: { now, left, commands: trusted } };
}

async function nextTurn(
  run: StoriesRun,
  known: Trusted,
  { iteration, isTheirs, rest, changed, theirs }: Since & { iteration: number; isTheirs: boolean },
): Promise<Turn> {
  const isAgain = known.iteration === iteration;
  const before = (isAgain ? known.before : known.after) ?? tasksToStart(run.spec, run.workspace);
  const held = { mode: null, before, commands: known.commands };
  const text = rest?.tasks ?? tasksText(run);
  const reading = judge(run, text, held);
  const settled = settle(run, { ...held, iteration, text, theirs, isProven: false }, reading);
  const work = await workIn(run);
  const isCutOff = isAgain && known.rest === undefined;
  return begun(run, {
    ...{ iteration, before: settled, work, changed, isCutOff, byChecks: known.byChecks },
    commands: theirs?.commands ?? known.commands,
    blamed: (isCutOff ? blamedIn(run, known, work) : undefined) ?? known.blamed,
    meanwhile: isAgain || isTheirs ? [] : reading.findings,
  });
}

/** What is not committed of the files of the stories is left to the agents to commit. */
async function firstTurn(run: StoriesRun, iteration: number): Promise<Turn> {
  const before = tasksToStart(run.spec, run.workspace);
  const work = await workIn(run);
  const own = `${ownPath(run.workspace, run.spec.dir)}/`;
  const blamed = Object.keys(work?.dirty ?? {}).filter((file) => file.startsWith(own));
  const commands = before.verifyCommands ?? [];
  return begun(run, { iteration, before, commands, work, blamed, byChecks: [], meanwhile: [], changed: [] });
}

function begun(run: StoriesRun, turn: Omit<Turn, "mode">): Turn {
  const mode = modeOf(turn.before, run.spec);
  const { iteration, before, commands, work, blamed, byChecks } = turn;
  keep(run, { iteration, mode, before, commands, work, blamed, byChecks });
  return { ...turn, mode };
}

/** What is not committed, and was not when the agent was ended, is a person's. */
function withTheirs({ work, blamed }: Trusted, now: Work | undefined): Work | undefined {
  const theirs = Object.entries(now?.dirty ?? {}).filter(([file]) => !blamed.includes(file));
  return work && { ...work, dirty: { ...work.dirty, ...Object.fromEntries(theirs) } };
}

/** A person who has planned something else since then does not want the old stories back. */
function refuseOther(run: StoriesRun, before: TaskList): void {
  const { userStories } = treeIn(tasksText(run));
  const stories: Partial<Story>[] = Array.isArray(userStories) ? userStories.filter(isTree) : [];
  // Half a file is what an agent leaves that is cut off.
  if (stories.length === 0 || isSameList(stories, before)) return;
  throw new RalphError(`${run.files.tasks} holds other stories than this run began with`, {
    code: "stories_replaced",
    hint: "start a new run with ralph stories run",
    isFinal: true,
  });
}
