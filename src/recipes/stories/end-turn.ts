import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { CheckFinished, LoopEventBody, Violation } from "../../events.js";
import type { Answer, VerifyContext } from "../../loop/recipe.js";
import { type Check, type CheckResult, hasFailed, notRun } from "../../verify/check.js";
import { type Failure, failureOf } from "../../verify/failure.js";
import { type KnownText, putTextsBack } from "../../verify/protected/disk.js";
import { runChecks } from "../../verify/schedule.js";
import { textAt } from "../../workspace/content.js";
import type { Work } from "../../workspace/uncommitted.js";
import { blamedIn, brokenFile, editedIn, type Held, judge, settle } from "./judge.js";
import { GIT_CANNOT_TELL, some } from "./rules.js";
import { commitBack, keepRest, ownPath, restore, type StoriesRun, tasksText, workIn } from "./run.js";
import { tasksToStart } from "./start.js";
import { type Finding, readTasks, type TaskList } from "./tasks.js";
import type { Turn } from "./turn.js";

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
export async function seenAfter(run: StoriesRun, turn: Turn): Promise<Seen> {
  const { iteration } = turn;
  const { tasks, progress } = run.files;
  const now = tasksText(run);
  const work = await workIn(run);
  const edited = await editedIn(run, turn, work);
  const { text } = turn.left ?? { text: now };
  const files = [
    { file: tasks, text: now },
    { file: progress, text: textAt(join(run.workspace, progress)) },
  ];
  const changed = restore(run, iteration).map((one): Violation => ({ type: "violation", iteration, ...one }));
  const seen = { text, files, work, edited, changed };
  // A link in the place of the folder is gone by now.
  if (changed.length > 0) restore(run, iteration, files);
  keepRest(run, text, { blamed: blamedIn(run, turn, work) ?? turn.blamed });
  return seen;
}

export interface Ending {
  seen: Seen;
  answer: Answer;
  failures: Failure[];
  /** Whether the agent asks a human: what it has not done is not held against it. */
  asks: boolean;
}

export interface TurnResult {
  after: TaskList;
  /** With what the agent broke the rules. */
  broken: Violation[];
  /** What verify commands did to the files of the stories: it is reported, and counts for nothing. */
  meddled: Violation[];
  uncommitted: Violation[];
}

const MEDDLED =
  "was changed while the verify commands ran, and was put back: no test or script may change it.";
const COMMIT = "Commit all of them, with progress.txt and tasks.json.";

/** Judges what the agent left, and puts back what it, or a verify command, may not have done. */
export async function endTurn(run: StoriesRun, turn: Turn, ending: Ending): Promise<TurnResult> {
  const { iteration } = turn;
  const { answer, failures, asks } = ending;
  const { text, files, work, edited, changed } = ending.seen;
  const violation = (file: string, what: string): Violation => ({ type: "violation", iteration, file, what });
  const byCommands = restore(run, iteration, files);
  const held: Held = { ...turn, edited, failing: failures.map(({ command }) => command) };
  const { tasks, findings: all } = judge(run, text, held);
  // An agent that failed or asks need not have done anything yet.
  const isExcused = answer.error !== null || asks;
  const findings = all.filter(({ field }) => field !== undefined || !isExcused || tasks === undefined);
  // A review counts when its agent came to an end.
  const isVoid = turn.mode === "review" && answer.error !== null;
  const undone = isVoid ? [...findings, ...judge(run, text, { ...held, mode: null }).findings] : findings;
  const isProven = failures.length === 0;
  const after = settle(run, { ...turn, ...held, text, isProven }, { tasks, findings: undone });
  const isKept = tasks === undefined && text !== undefined;
  const kept = isKept
    ? ` The last good one was put back; the broken one is kept as ${brokenFile(run, iteration)}.`
    : "";
  const broken = onePerStory([...turn.meanwhile, ...findings]).map(
    ({ message, story, file = run.files.tasks }): Violation => ({
      ...{ type: "violation", iteration, what: `${message}${kept}` },
      ...(story === undefined ? { file } : { story }),
    }),
  );
  const blamed = blamedIn(run, turn, work);
  await closeBooks(run, turn, ending, after, blamed);
  const [first] = blamed ?? [];
  const uncommitted =
    first && blamed
      ? violation(first, `There are uncommitted changes: ${some(blamed, 1)}. ${COMMIT}`)
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

/** Commits what was put back, and notes who is to blame for what is not committed. */
async function closeBooks(
  run: StoriesRun,
  { commands, byChecks, theirs }: Turn,
  { seen }: Ending,
  after: TaskList,
  blamed: string[] = [],
): Promise<void> {
  const own = [...run.putBack].map((name) => ownPath(run.workspace, name));
  await commitBack(run);
  const { dirty = {} } = (await workIn(run)) ?? {};
  const written = Object.keys(dirty).filter(
    (file) => dirty[file] !== seen.work?.dirty[file] && !own.includes(file),
  );
  keepRest(run, tasksText(run), {
    after,
    commands: theirs?.commands ?? commands,
    // Where git has refused to commit it, the next iteration has to.
    blamed: [...new Set([...blamed, ...own.filter((file) => file in dirty)])],
    byChecks: [...new Set([...byChecks, ...written])],
  });
}

/**
 * The run ends, or waits, before what an agent did was judged. What it may not do is undone now; what it may do is
 * judged when the run goes on, and no other run believes it.
 */
export async function closeTurn(run: StoriesRun, turn: Turn, seen: Seen | undefined): Promise<void> {
  restore(run, turn.iteration, seen?.files);
  const text = seen === undefined ? tasksText(run) : seen.text;
  const held = { ...turn, text, isProven: true };
  settle(run, held, judge(run, text, held));
  const work = seen === undefined ? await workIn(run) : seen.work;
  await commitBack(run);
  keepRest(run, tasksText(run), { blamed: blamedIn(run, turn, work) ?? turn.blamed });
}

const TIMEOUT_MS = 10 * 60_000;

type Events<Result> = AsyncGenerator<LoopEventBody, Result>;

/** Before the first iteration. The files of the stories are what they were before it. */
export async function* runBaseline(
  run: StoriesRun,
  verify: VerifyContext,
): Events<CheckFinished[] | undefined> {
  const { verifyCommands = [] } = tasksToStart(run.spec, run.workspace);
  const { tasks, prd, prompt, progress } = run.files;
  const known = [tasks, prd, prompt, progress].map((file) => ({
    file,
    text: textAt(join(run.workspace, file)),
  }));
  const checks = checksOf(verifyCommands, run.folderFor(verify.iteration));
  const results = yield* runChecks(checks, run, verify);
  const wasThere = known.filter(({ text }) => text !== undefined);
  putTextsBack(run.workspace, wasThere);
  return results?.map(({ event }) => event);
}

function checksOf(commands: string[], folder: string): Check[] {
  return commands.map((command, index) => {
    return { command, timeoutMs: TIMEOUT_MS, log: join(folder, `check-${index + 1}.log`) };
  });
}

/**
 * Runs the commands that the run began with, then those that agents have added, which run where agents run, or not at
 * all. `text`: what the agent made of tasks.json.
 */
export async function* runVerifyCommands(
  run: StoriesRun,
  { commands, before }: Turn,
  { text }: Pick<Seen, "text">,
  verify: VerifyContext,
): Events<Failure[] | undefined> {
  const { verifyCommands = [] } = readTasks(text).tasks ?? before;
  const added = verifyCommands.filter((command) => !commands.includes(command));
  const folder = run.folderFor(verify.iteration);
  // What was put back, and commands before them, have written files since the agent ended.
  const anew = { ...verify, tree: verify.tree && { ...verify.tree, before: undefined } };
  const own = yield* runChecks(checksOf(commands, folder), run, anew);
  const others = own && (yield* runAdded(run, checksOf(added, join(folder, "added")), anew));
  if (own === undefined || others === undefined) return undefined;
  return [...own, ...others].filter(hasFailed).map(({ event }) => failureOf(event, TIMEOUT_MS));
}

async function* runAdded(
  run: StoriesRun,
  checks: Check[],
  verify: VerifyContext,
): Events<CheckResult[] | undefined> {
  if (run.agentSandbox !== undefined) {
    mkdirSync(join(run.folderFor(verify.iteration), "added"), { recursive: true });
    return yield* runChecks(checks, { ...run, sandbox: run.agentSandbox, schedule: undefined }, verify);
  }
  const results = checks.map((check) => notRun(check, verify.iteration, "untrusted"));
  yield* results.map(({ event }) => event);
  return results;
}
