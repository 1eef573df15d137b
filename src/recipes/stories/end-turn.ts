import { join } from "node:path";
import type { Violation } from "../../events.js";
import type { Answer } from "../../loop/recipe.js";
import type { Failure } from "../../verify/failure.js";
import { type KnownText, putTextsBack } from "../../verify/protected/disk.js";
import { textAt } from "../../workspace/content.js";
import type { Work } from "../../workspace/work.js";
import type { Finding } from "./finding.js";
import { commitBack, type Guard } from "./guarded-files.js";
import { blamedIn, editedSince, type Held, type Judged, judgeTasks, tasksText, workIn } from "./judge.js";
import { keptAs, mended, merged, withoutNewPasses, written } from "./restore.js";
import { GIT_CANNOT_TELL } from "./rules.js";
import type { StoriesSpec } from "./stories.js";
import { ownPath, restOf, storyFiles } from "./story-files.js";
import type { TaskList } from "./tasks.js";
import type { Trusted } from "./trusted.js";
import type { Believing, Turn } from "./turn.js";

/** What was there when the agent had ended: all of it is judged by this, whatever verify commands do later. */
export interface Seen {
  /** The text of tasks.json that is judged. */
  text: string | undefined;
  /** What the files hold that verify commands may not change. */
  files: KnownText[];
  /** undefined: git cannot tell. */
  work: Work | undefined;
  /** Files that a review edited and may not edit. */
  edited: string[];
  /** Other files of the stories that the agent changed: they were put back. */
  changed: Violation[];
}

/** Reads it once, and undoes what the agent did to the other files of the stories. */
export async function lookOnce(
  spec: StoriesSpec,
  context: Believing,
  turn: Turn,
  guard: Guard,
): Promise<Seen> {
  const { tasks, progress } = storyFiles(spec.dir);
  const { iteration, answered } = turn;
  const now = tasksText(spec, context);
  const work = await workIn(context);
  const seen: Seen = {
    text: answered === undefined ? now : answered.text,
    files: [
      { file: tasks, text: now },
      { file: progress, text: textAt(join(context.workspace, progress)) },
    ],
    work,
    edited: turn.mode === "review" ? await editedSince(spec, context, turn, work) : [],
    changed: guard.restore(iteration).map((one) => ({ type: "violation", iteration, ...one })),
  };
  // A link in the place of the folder is gone by now.
  if (seen.changed.length > 0) putSeenBack(seen, context);
  keepRest(spec, context, { text: seen.text, blamed: blamedIn(spec, turn, work) ?? turn.blamed });
  return seen;
}

/** Puts back what differs from what was seen. Returns the names. */
function putSeenBack({ files }: Seen, context: Believing): string[] {
  const changed = putTextsBack(context.workspace, files);
  for (const { file, text } of changed) if (text !== undefined) context.putBack.add(file);
  return changed.map(({ file }) => file);
}

interface Ending {
  seen: Seen;
  answer: Answer;
  failures: Failure[];
  /** Whether the agent asks a human: what it has not done is not held against it. */
  asks: boolean;
  haveCommandsRun: boolean;
}

export interface Ended {
  after: TaskList;
  /** With what the agent broke the rules. */
  broken: Violation[];
  /** What verify commands did to the files of the stories: it is told, and counts for nothing. */
  meddled: Violation[];
  uncommitted: Violation[];
}

/** Judges what the agent left, and puts back what it, or a verify command, may not have done. */
export async function endTurn(
  spec: StoriesSpec,
  context: Believing,
  turn: Turn,
  guard: Guard,
  ending: Ending,
): Promise<Ended> {
  const { seen } = ending;
  const { iteration } = turn;
  const byCommands = [...putSeenBack(seen, context), ...guard.restore(iteration).map(({ file }) => file)];
  const { after, violations } = judgeSeen(spec, context, turn, ending);
  const blamed = blamedIn(spec, turn, seen.work);
  await settle(spec, context, turn, { ...ending, after, blamed });
  return {
    after,
    broken: [...violations, ...seen.changed],
    meddled: byCommands.map((file) => meddling(file, iteration)),
    uncommitted: notCommitted(blamed, iteration),
  };
}

function judgeSeen(
  spec: StoriesSpec,
  context: Believing,
  turn: Turn,
  { seen: { text, edited }, answer, failures, asks }: Ending,
): { after: TaskList; violations: Violation[] } {
  const { iteration } = turn;
  const held: Held = { ...turn, edited, failing: failures.map(({ command }) => command) };
  const judged = judgeTasks(spec, text, held);
  const findings = judged.findings.filter(
    ({ field }) => field !== undefined || (answer.error === null && !asks) || judged.tasks === undefined,
  );
  // A review counts when its agent came to an end.
  const isVoid = turn.mode === "review" && answer.error !== null;
  const moved = isVoid ? judgeTasks(spec, text, { ...held, mode: null }).findings : [];
  const whole = mended(spec, context, { ...judged, findings: [...findings, ...moved] }, held, iteration);
  const isUnproven = spec.skipReview && failures.length > 0;
  const proven = isUnproven ? withoutNewPasses(whole, turn.before) : whole;
  const kept =
    judged.tasks === undefined && judged.text !== undefined ? keptAs(context, iteration) : undefined;
  return {
    after: settled(spec, context, turn, judged, proven),
    violations: onePerStory([...turn.meanwhile, ...findings]).map(told(spec, iteration, kept)),
  };
}

/** The iteration is over: commits what was put back, and notes who is to blame for what is not committed. */
async function settle(
  spec: StoriesSpec,
  context: Believing,
  { commands, byChecks, answered }: Turn,
  { seen, after, blamed = [], haveCommandsRun }: Ending & { after: TaskList; blamed: string[] | undefined },
): Promise<void> {
  const own = [...context.putBack].map((name) => ownPath(context.workspace, name));
  await commitBack(context);
  const { dirty = {} } = (await workIn(context)) ?? {};
  const written = Object.keys(dirty).filter(
    (file) => dirty[file] !== seen.work?.dirty[file] && !own.includes(file),
  );
  keepRest(spec, context, {
    text: tasksText(spec, context),
    after,
    commands: answered?.theirs?.commands ?? commands,
    // Where git has refused to commit it, the next iteration has to.
    blamed: [...new Set([...blamed, ...own.filter((file) => file in dirty)])],
    byChecks: haveCommandsRun ? [...new Set([...byChecks, ...written])] : byChecks,
  });
}

/**
 * The run ends, or waits, before what an agent did was judged. What it may not do is undone now; what it may do is
 * judged when the run goes on, and no other run believes it.
 */
export async function closeTurn(
  spec: StoriesSpec,
  context: Believing,
  turn: Turn,
  guard: Guard,
  seen: Seen | undefined,
): Promise<void> {
  if (seen !== undefined) putSeenBack(seen, context);
  const held: Held = { ...turn, failing: [] };
  const judged = judgeTasks(spec, seen === undefined ? tasksText(spec, context) : seen.text, held);
  settled(spec, context, turn, judged, mended(spec, context, judged, held, turn.iteration));
  guard.restore(turn.iteration);
  const work = seen === undefined ? await workIn(context) : seen.work;
  await commitBack(context);
  keepRest(spec, context, {
    text: tasksText(spec, context),
    blamed: blamedIn(spec, turn, work) ?? turn.blamed,
  });
}

/** Keeps how the files of the stories are while no agent is at work, with what else is known by now. */
function keepRest(
  { dir }: StoriesSpec,
  { trusted, workspace }: Believing,
  { text, ...more }: { text: string | undefined } & Partial<Trusted>,
): void {
  const known = trusted.read();
  if (known !== undefined) trusted.write({ ...known, ...more, rest: restOf(dir, workspace, text) });
}

/** Verify commands run what agents wrote. */
function meddling(file: string, iteration: number): Violation {
  const what = `${file} was changed while the verify commands ran, and was put back: no test or script may change it.`;
  return { type: "violation", iteration, file, what };
}

/** Writes what has become of the list, with what a person changed meanwhile. */
function settled(
  spec: StoriesSpec,
  context: Believing,
  { answered }: Turn,
  { tasks }: Judged,
  whole: TaskList,
): TaskList {
  const theirs = answered?.theirs;
  const after = theirs === undefined ? whole : merged(theirs, whole);
  written(spec, context, theirs?.now ?? tasks, after);
  return after;
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

function notCommitted(files: string[] | undefined, iteration: number): Violation[] {
  if (files === undefined) return [{ type: "violation", iteration, what: GIT_CANNOT_TELL, file: ".git" }];
  const [file, ...others] = files;
  if (file === undefined) return [];
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const what = `There are uncommitted changes: ${file}${more}. Commit all of them, with progress.txt and tasks.json.`;
  return [{ type: "violation", iteration, what, file }];
}

function told({ dir }: StoriesSpec, iteration: number, kept: string | undefined) {
  return ({ message, story, file = storyFiles(dir).tasks }: Finding): Violation => ({
    type: "violation",
    iteration,
    what:
      kept === undefined
        ? message
        : `${message} The last good one was put back; the broken one is kept as ${kept}.`,
    ...(story === undefined ? { file } : { story }),
  });
}
