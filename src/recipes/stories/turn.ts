import { join } from "node:path";
import { RalphError } from "../../errors.js";
import type { Violation } from "../../events.js";
import { writeAtomic } from "../../state/files.js";
import type { Failure } from "../../verify/failure.js";
import type { Answer } from "../recipe.js";
import type { Finding } from "./finding.js";
import { type Held, type Judged, judgeTasks, uncommitted } from "./judge.js";
import { readTasks } from "./list-check.js";
import { putBack } from "./put-back.js";
import { checkTasks } from "./rules.js";
import type { StoriesContext, StoriesSpec } from "./stories.js";
import { readIfFile, replaceFile, storyFiles } from "./story-files.js";
import { type Mode, modeOf, type TaskList } from "./tasks.js";
import { readTrusted, writeTrusted } from "./trusted.js";

/** An iteration as it began. */
export interface Turn {
  iteration: number;
  mode: Mode;
  before: TaskList;
  /** What was changed when it was nobody's turn. */
  meanwhile: Finding[];
}

interface Beginning {
  iteration: number;
  answered: boolean;
  failures: Failure[];
}

/**
 * What is believed is what the last iteration was verified to leave behind: nothing that was changed since
 * then, by a process left behind or by an agent that was cut off, counts as a review.
 */
export function beginTurn(spec: StoriesSpec, context: StoriesContext, beginning: Beginning): Turn {
  const { iteration, answered } = beginning;
  const trusted = readTrusted(context.records);
  if (trusted?.iteration === iteration && answered) {
    return { iteration, mode: trusted.mode, before: trusted.before, meanwhile: [] };
  }
  const isAgain = trusted?.iteration === iteration;
  const known = isAgain ? trusted.before : trusted?.after;
  if (known === undefined) return begun(spec, context, iteration, tasksToStart(spec, context.workspace), []);
  const held: Held = { mode: null, before: known, failing: [] };
  const judged = judgeTasks(spec, context, held);
  const before = restored(spec, context, judged, held, iteration);
  // What an agent did that was cut off is undone without a word.
  return begun(spec, context, iteration, before, isAgain ? [] : judged.findings);
}

function begun(
  spec: StoriesSpec,
  { records }: StoriesContext,
  iteration: number,
  before: TaskList,
  meanwhile: Finding[],
): Turn {
  const mode = modeOf(before, spec);
  writeTrusted(records, { iteration, mode, before });
  return { iteration, mode, before, meanwhile };
}

/** The list that a run begins with. What is wrong with it ends the run before it began. */
export function tasksToStart(
  spec: Pick<StoriesSpec, "dir" | "skipReview" | "reviewCap">,
  workspace: string,
): TaskList {
  const name = storyFiles(spec.dir).tasks;
  const { tasks, findings } = checkTasks(readIfFile(join(workspace, name)), { ...spec, name });
  if (tasks !== undefined && findings.length === 0) return tasks;
  throw unusable(findings);
}

/** The same for whoever only looks: what a review would find wrong does not matter. */
export function tasksToShow(dir: string, workspace: string): TaskList {
  const name = storyFiles(dir).tasks;
  const { tasks, findings } = readTasks(readIfFile(join(workspace, name)), name);
  if (tasks === undefined) throw unusable(findings);
  return tasks;
}

function unusable(findings: Finding[]): RalphError {
  return new RalphError(findings.map(({ message }) => message.replace(/\.$/, "")).join("; "), {
    code: "tasks_invalid",
    hint: "ralph stories verify checks it again",
  });
}

interface Ending {
  iteration: number;
  answer: Answer;
  failures: Failure[];
}

export interface Ended {
  violations: Violation[];
  uncommitted: Violation[];
  after: TaskList;
}

/** Judges what the agent made of tasks.json, and puts back what it may not have done. */
export async function endTurn(
  spec: StoriesSpec,
  context: StoriesContext,
  turn: Turn,
  { iteration, answer, failures }: Ending,
): Promise<Ended> {
  const left = await uncommitted(spec, context);
  const held: Held = { ...turn, failing: failures.map(({ command }) => command) };
  const judged = judgeTasks(spec, context, held);
  const findings = judged.findings.filter(
    ({ field }) => field !== undefined || answer.error === null || judged.tasks === undefined,
  );
  const whole = restored(spec, context, { ...judged, findings }, held, iteration);
  const after = spec.skipReview && failures.length > 0 ? notPassed(whole, turn.before) : whole;
  if (after !== whole) write(spec, context, after);
  writeTrusted(context.records, { ...turn, after });
  const kept =
    judged.tasks === undefined && judged.text !== undefined ? keptAs(context, iteration) : undefined;
  const tell = told(spec, iteration, kept);
  return {
    violations: onePerStory([...turn.meanwhile, ...findings]).map(tell),
    uncommitted: notCommitted(left, iteration),
    after,
  };
}

/** tasks.json without what was found. */
function restored(
  spec: StoriesSpec,
  context: StoriesContext,
  { tasks, text, findings }: Judged,
  held: Held,
  iteration: number,
): TaskList {
  if (tasks !== undefined && findings.length === 0) return tasks;
  if (tasks === undefined && text !== undefined) writeAtomic(keptAs(context, iteration), text);
  const mended = putBack(tasks, held.before, findings);
  const check = checkTasks(JSON.stringify(mended), { ...spec, ...held, mode: undefined, before: undefined });
  const sound = check.findings.length === 0 ? mended : held.before;
  write(spec, context, sound);
  return sound;
}

/** Where a list is kept that is none. */
function keptAs({ folderFor }: StoriesContext, iteration: number): string {
  return join(folderFor(iteration), "tasks.broken.json");
}

function write({ dir }: StoriesSpec, { workspace }: StoriesContext, tasks: TaskList): void {
  replaceFile(join(workspace, storyFiles(dir).tasks), `${JSON.stringify(tasks, null, 2)}\n`);
}

/** Without reviews, the verify commands are all that stands between a story and its end. */
function notPassed(now: TaskList, before: TaskList): TaskList {
  const passed = new Set(before.userStories.filter(({ passes }) => passes).map(({ id }) => id));
  return {
    ...now,
    userStories: now.userStories.map((story) => (passed.has(story.id) ? story : { ...story, passes: false })),
  };
}

/** A move that breaks a rule leaves a state that breaks another one: the move is what is told. */
function onePerStory(findings: Finding[]): Finding[] {
  return findings.filter(
    ({ story, check }) =>
      story === undefined ||
      check === 2.5 ||
      !findings.some((other) => other.story === story && other.check === 2.5),
  );
}

function notCommitted([file, ...others]: string[], iteration: number): Violation[] {
  if (file === undefined) return [];
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const what = `There are uncommitted changes: ${file}${more}. Commit all of them, with progress.txt and tasks.json.`;
  return [{ type: "violation", iteration, what, file }];
}

function told({ dir }: StoriesSpec, iteration: number, kept: string | undefined) {
  return ({ message, story }: Finding): Violation => ({
    type: "violation",
    iteration,
    what:
      kept === undefined
        ? message
        : `${message} The last good one was put back; the broken one is kept as ${kept}.`,
    ...(story === undefined ? { file: storyFiles(dir).tasks } : { story }),
  });
}
