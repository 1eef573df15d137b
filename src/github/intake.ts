import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { environments, variableIn } from "../process/table.js";
import { runNamed } from "../records/home.js";
import { whenFree } from "../records/lock.js";
import { createRedactor } from "../records/redact.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { storeAnswer } from "../records/words.js";
import { harmlessLine } from "../views/harmless.js";
import { deliver } from "./deliver.js";
import { type Comment, type Forge, type Issue, isPassing } from "./forge.js";
import {
  claim,
  claimsIn,
  type IssueClaim,
  isOwn,
  isRalph,
  marked,
  markerOf,
  release,
  renew,
  standingClaim,
} from "./markers.js";

export interface IntakeOptions {
  label: string;
  /** How many runs at once. */
  parallel: number;
  once: boolean;
  trustAuthor: boolean;
  pollMs: number;
  home: string;
  stop: AbortSignal;
  tell(text: string): void;
}

/** Each run is a ralph of its own; they return its exit code. */
export interface Workers {
  start(issue: number, name: string, stop: AbortSignal): Promise<number>;
  resume(issue: number, run: RunFolder, stop: AbortSignal): Promise<number>;
}

const WORKING = "ralph:working";
const BLOCKED = "ralph:blocked";
const DONE = "ralph:done";
const RENEW_MS = 3_600_000;

/** Takes issues with a label, works on them, delivers, and asks back. Returns the first exit code that is not 0. */
export async function intake(forge: Forge, options: IntakeOptions, workers: Workers): Promise<number> {
  const { label, parallel, once, pollMs, stop, tell } = options;
  const active = new Map<number, Promise<void>>();
  const seen = new Set<number>();
  let exitCode = 0;
  const work = async (context: Context, job: Job): Promise<void> => {
    const { number } = context.issue;
    const ended = await carryOut(context, job).catch((error: unknown) => {
      if (!(error instanceof RalphError)) throw error;
      tell(`issue ${number}: ${harmlessLine(error.message)}`);
      // What passes by itself is no mistake of the user.
      return isPassing(error) ? 1 : error.exitCode;
    });
    exitCode ||= ended;
    active.delete(number);
  };
  const begin = async (): Promise<void> => {
    for (const issue of await forge.issues.list({ label })) {
      if (active.size >= parallel) return;
      if (active.has(issue.number) || (once && seen.has(issue.number))) continue;
      seen.add(issue.number);
      const context = { forge, issue, ...options };
      const job = await jobFor(context, workers);
      if (job !== undefined) active.set(issue.number, work(context, job));
    }
  };
  try {
    while (!stop.aborted && exitCode !== 2) {
      await begin().catch((error: unknown) => {
        if (stop.aborted) return;
        if (once || !(error instanceof RalphError && isPassing(error))) throw error;
        tell(`${harmlessLine(error.message)}; trying again`);
      });
      if (once && active.size === 0) break;
      const waited = once ? [] : [sleep(pollMs, undefined, { signal: stop }).catch(() => {})];
      await Promise.race([...active.values(), ...waited]);
    }
  } finally {
    await Promise.all(active.values());
  }
  return stop.aborted ? 130 : exitCode;
}

interface Context extends Pick<IntakeOptions, "home" | "trustAuthor" | "tell" | "stop"> {
  forge: Forge;
  issue: Issue;
}

/** What is to be done for an issue. */
interface Job {
  /** Of its run. */
  name: string;
  /** Where this machine has the issue already. */
  claim?: IssueClaim;
  /** Returns an exit code. */
  work(stop: AbortSignal): Promise<number>;
}

/** undefined: there is nothing to do now, or others do it. */
async function jobFor(context: Context, workers: Workers): Promise<Job | undefined> {
  const { forge, issue, home, tell, trustAuthor } = context;
  const { number, labels, author } = issue;
  const isDone = labels.includes(DONE);
  if (isDone && !labels.includes(WORKING)) return undefined;
  const [comments, self] = [await forge.issues.comments(number), await forge.self()];
  // One that is at work here has it, even if its claim could not be renewed.
  if (claimsIn(comments, self).some(({ name }) => ownRun(home, name)?.loop() !== undefined)) return undefined;
  const standing = standingClaim(comments, self);
  if (standing !== undefined && !(await isVoid(context, standing))) return goOn(context, workers, standing);
  if (isDone) return void (await forge.issues.removeLabel(number, WORKING));
  if (!(author.mayWrite || trustAuthor)) {
    tell(`issue ${number} is by ${author.login}, who has no write access: --trust-author takes it`);
    return undefined;
  }
  const asked = comments.findLast((one) => askedBy(one) !== undefined && isRalph(one.author, self));
  const answer = answerTo(asked, comments);
  if (labels.includes(BLOCKED) && answer === undefined) return undefined;
  const before = asked && ownRun(home, askedBy(asked) as string);
  const question = before?.state()?.question;
  if (before === undefined || question === undefined || answer === undefined) {
    const name = `issue-${number}-${randomBytes(3).toString("hex")}`;
    return { name, work: (stop) => workers.start(number, name, stop) };
  }
  return {
    name: before.name(),
    work(stop) {
      storeAnswer(before, question, answer);
      return workers.resume(number, before, stop);
    },
  };
}

/** Takes back a claim of this machine that was killed before its run began; what there is of that run holds no work. */
async function isVoid({ forge, home }: Context, { name, comment }: IssueClaim): Promise<boolean> {
  const isCutOff = (): boolean =>
    existsSync(lockOf(home, name)) && ownRun(home, name)?.state() === undefined && !isStarting(name);
  if (!isCutOff()) return false;
  const takeBack = async (): Promise<boolean> => {
    if (isCutOff()) await forge.issues.remove(comment);
    return isCutOff();
  };
  return whenFree(lockOf(home, name), takeBack, 0).catch(ifHeld(false));
}

/** Names the run in the environment of the process that works on it. */
export const CLAIM = "RALPH_CLAIM";

/** The process outlives a kill of its intake. */
function isStarting(name: string): boolean {
  return [...environments().values()].some((variables) => variableIn(variables, CLAIM) === name);
}

/** A claim that stands: one of this machine is taken up where it was cut off. */
function goOn({ issue, home, tell }: Context, workers: Workers, claim: IssueClaim): Job | undefined {
  const { name } = claim;
  const run = ownRun(home, name);
  const state = run?.state();
  if (run === undefined || state === undefined) return undefined;
  tell(`issue ${issue.number}: continuing ${name}, which was cut off`);
  // One that has ended is only to be reported.
  const isOver = state.status === "finished" && state.reason !== "interrupted";
  const work: Job["work"] = async (stop) =>
    isOver ? (state.success ? 0 : 1) : workers.resume(issue.number, run, stop);
  return { name, claim, work };
}

/** undefined: not one of this machine. */
function ownRun(home: string, name: string): RunFolder | undefined {
  const id = runNamed(home, name);
  return id === undefined ? undefined : runFolder(home, id);
}

const lockOf = (home: string, name: string): string => join(home, `${name}.lock`);

const ASKED = /^<!-- ralph:asked ([\w-]+) /;

/** The run that asked, by its name. */
function askedBy(comment: Comment): string | undefined {
  return ASKED.exec(markerOf(comment.body) ?? "")?.[1];
}

/** Only people with write access answer; all that they said since counts. */
function answerTo(asked: Comment | undefined, comments: Comment[]): string | undefined {
  if (asked === undefined) return undefined;
  const said = comments.filter((one) => one.id > asked.id && one.author.mayWrite && !isOwn(one));
  if (said.length === 0) return undefined;
  return said.map(({ author, body }) => `${author.login} (${author.role}) says:\n\n${body}`).join("\n\n");
}

/**
 * From a claim to what came of it, told in the issue. Returns 0, or 1 where nothing came of it. Another intake of this
 * machine may be about to do the same: the lock keeps it off, and after a kill it tells whose claim that was.
 */
async function carryOut(context: Context, { name, claim: standing, work }: Job): Promise<number> {
  const alone = async (): Promise<number> => {
    const mine = standing ?? (await claimed(context, name));
    return mine === undefined ? 0 : atWork(context, mine, work);
  };
  return whenFree(lockOf(context.home, name), alone, 0).catch(ifHeld(0));
}

/** What comes of it while another process holds the lock. */
function ifHeld<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof RalphError && error.code === "turn_held") return value;
    throw error;
  };
}

/** undefined: somebody else has the issue, or did something about it since it was looked at. */
async function claimed({ forge, issue }: Context, name: string): Promise<IssueClaim | undefined> {
  const { number, labels } = issue;
  const mine = await claim(forge, number, name);
  if (mine === undefined) return undefined;
  const now = await forge.issues.get(number);
  if (!now.isOpen || [DONE, BLOCKED].some((one) => now.labels.includes(one) !== labels.includes(one)))
    return void (await forge.issues.remove(mine.comment));
  await forge.issues.addLabel(number, WORKING);
  await forge.issues.removeLabel(number, BLOCKED);
  return mine;
}

async function atWork(context: Context, mine: IssueClaim, work: Job["work"]): Promise<number> {
  const { forge, issue, home, stop, tell } = context;
  const lost = new AbortController();
  const hold = async (): Promise<void> => {
    if (!(await renew(forge, issue.number, mine))) lost.abort();
  };
  const renewing = setInterval(() => void hold().catch(() => {}), RENEW_MS).unref();
  const code = await work(AbortSignal.any([stop, lost.signal])).finally(() => clearInterval(renewing));
  const isInterrupted = stop.aborted || code === 130;
  if (!isInterrupted) await hold();
  if (lost.signal.aborted) {
    tell(`issue ${issue.number}: another ralph has it by now; what ${mine.name} did stays in its worktree`);
    await forge.issues.remove(mine.comment);
    return 1;
  }
  // The claim stays, and the run goes on another time.
  if (isInterrupted) return 130;
  const run = ownRun(home, mine.name);
  if (run?.state() !== undefined) return report(context, mine, run);
  await forge.issues.remove(mine.comment);
  await forge.issues.removeLabel(issue.number, WORKING);
  return code;
}

/** Its last step takes the label away by which the next intake sees that there is something left to do. */
async function report({ forge, issue, tell }: Context, mine: IssueClaim, run: RunFolder): Promise<number> {
  const { number } = issue;
  const { success, question, reason, message, iterations } = run.state() ?? {};
  const end = async (text: string, what: string, label: string, outcome: string): Promise<void> => {
    const whole = marked(createRedactor(process.env)(text), what);
    const comments = await forge.issues.comments(number);
    if (!comments.some(({ body }) => markerOf(body) === markerOf(whole)))
      await forge.issues.comment(number, whole);
    await forge.issues.addLabel(number, label);
    await release(forge, mine, outcome);
    await forge.issues.removeLabel(number, WORKING);
    tell(`issue ${number}: ${outcome}`);
  };
  const asks = (text: string, outcome: string): Promise<void> => {
    const again = "Answer here, and ralph continues. It listens only to people with write access.";
    return end(`${text}\n\n${again}`, `asked ${mine.name} ${iterations}`, BLOCKED, outcome);
  };
  const because = (text?: string): string => (text ? `: ${harmlessLine(text)}` : "");
  if (success) {
    const delivered = await deliver(run, {}, tell).catch(asRefusal);
    if (delivered instanceof RalphError) {
      await asks(`The run is done, but has no pull request${because(delivered.message)}.`, delivered.message);
      return 1;
    }
    const pull = delivered.pull.number;
    await end(`Done: #${pull}.`, `done ${mine.name}`, DONE, `pull request ${pull}`);
    return 0;
  }
  if (question === undefined) {
    await asks(`The run stopped (${reason}${because(message)}).`, `stopped, ${reason}`);
    return 1;
  }
  await asks(`The agent asks:\n\n${question.text.replace(/^/gm, "> ")}`, "it waits for an answer");
  return 0;
}

/** What people have to see to, in place of what passes by itself. */
function asRefusal(error: unknown): RalphError {
  if (error instanceof RalphError && !isPassing(error)) return error;
  throw error;
}
