import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { whenFree } from "../records/lock.js";
import { runNamed } from "../records/names.js";
import { createRedactor } from "../records/redact.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { storeAnswer } from "../records/words.js";
import { harmlessLine } from "../views/harmless.js";
import { claim, claimsIn, type IssueClaim, isRalph, release, renew, standingClaim } from "./claims.js";
import { deliver } from "./deliver.js";
import type { Comment, Forge, Issue } from "./forge.js";
import { isOwn, marked, markerOf } from "./markers.js";

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

/** Takes issues with a label, works on them, delivers, and asks back. Returns the exit code. */
export async function intake(forge: Forge, options: IntakeOptions, workers: Workers): Promise<number> {
  const { once, pollMs, stop } = options;
  const pool = poolOf(options);
  const seen = new Set<number>();
  const isOver = (): boolean => stop.aborted || pool.exitCode() === 2;
  while (!isOver()) {
    const all = await forge.issues.list({ label: options.label });
    const open = all.filter(({ number }) => !(pool.has(number) || (once && seen.has(number))));
    for (const issue of open) {
      if (pool.isFull()) break;
      const work = await workOn({ forge, issue, ...options }, workers);
      seen.add(issue.number);
      if (work !== undefined) pool.begin(issue.number, work);
    }
    if (once && pool.isEmpty()) break;
    await (once ? pool.oneEnds() : Promise.race([pool.oneEnds(), waited(pollMs, stop)]));
  }
  await pool.allEnd();
  return stop.aborted ? 130 : pool.exitCode();
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {});
}

/** Runs at work, by their issues. The first exit code that is not 0 stays. */
function poolOf({ parallel, tell }: IntakeOptions) {
  const active = new Map<number, Promise<void>>();
  let exitCode = 0;
  const failed = (issue: number, error: unknown): number => {
    if (!(error instanceof RalphError)) throw error;
    tell(`issue ${issue}: ${harmlessLine(error.message)}`);
    return error.exitCode;
  };
  return {
    begin(issue: number, work: () => Promise<number>): void {
      const ended = work()
        .catch((error: unknown) => failed(issue, error))
        .then((code) => {
          exitCode ||= code;
          active.delete(issue);
        });
      active.set(issue, ended);
    },
    has: (issue: number): boolean => active.has(issue),
    isFull: (): boolean => active.size >= parallel,
    isEmpty: (): boolean => active.size === 0,
    exitCode: (): number => exitCode,
    /** Never, where none is at work. */
    oneEnds: (): Promise<void> => Promise.race(active.values()),
    allEnd: async (): Promise<void> => void (await Promise.all(active.values())),
  };
}

interface Context extends Pick<IntakeOptions, "home" | "trustAuthor" | "tell" | "stop"> {
  forge: Forge;
  issue: Issue;
}

/** What is to be done for an issue; undefined: nothing now, or others do it. */
async function workOn(context: Context, workers: Workers): Promise<(() => Promise<number>) | undefined> {
  const { forge, issue, home, tell, trustAuthor } = context;
  const { number, labels, author } = issue;
  if (labels.includes(DONE)) return undefined;
  const [comments, self] = [await forge.issues.comments(number), await forge.self()];
  // One that is at work here has it, even if its claim could not be renewed.
  if (claimsIn(comments, self).some(({ name }) => ownRun(home, name)?.loop() !== undefined)) return undefined;
  const standing = standingClaim(comments, self);
  if (standing !== undefined) {
    const own = ownRun(home, standing.name);
    // Somebody else's.
    if (own === undefined) return undefined;
    return () =>
      atWork(context, standing, (ended) => {
        tell(`issue ${number}: continuing ${standing.name}, which was cut off`);
        return goOn(own, workers, number, ended);
      });
  }
  if (!(author.mayWrite || trustAuthor)) {
    tell(`issue ${number} is by ${author.login}, who has no write access: --trust-author takes it`);
    return undefined;
  }
  const asked = comments.findLast((one) => askedBy(one) !== undefined && isRalph(one.author, self));
  const answer = answerTo(asked, comments);
  if (labels.includes(BLOCKED) && answer === undefined) return undefined;
  const before = asked && ownRun(home, askedBy(asked) as string);
  const question = answer === undefined ? undefined : before?.state()?.question;
  const name =
    question === undefined
      ? `issue-${number}-${randomBytes(3).toString("hex")}`
      : (before as RunFolder).name();
  const mine = await claim(forge, number, name);
  if (mine === undefined) return undefined;
  await forge.issues.addLabel(number, WORKING);
  await forge.issues.removeLabel(number, BLOCKED);
  if (question === undefined || before === undefined || answer === undefined)
    return () => atWork(context, mine, (ended) => workers.start(number, name, ended));
  storeAnswer(before, question, answer);
  return () => atWork(context, mine, (ended) => workers.resume(number, before, ended));
}

/** undefined: not one of this machine. */
function ownRun(home: string, name: string): RunFolder | undefined {
  const id = runNamed(home, name);
  return id === undefined ? undefined : runFolder(home, id);
}

/** One that has ended is only to be reported. */
async function goOn(run: RunFolder, workers: Workers, issue: number, stop: AbortSignal): Promise<number> {
  const state = run.state();
  const isOver = state?.status === "finished" && state.reason !== "interrupted";
  return isOver ? (state.success ? 0 : 1) : workers.resume(issue, run, stop);
}

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

type IssueWork = (stop: AbortSignal) => Promise<number>;

/** From a claim to what came of it, told in the issue. Returns 0, or 1 where nothing came of it. */
async function atWork(context: Context, mine: IssueClaim, work: IssueWork): Promise<number> {
  // Another intake of this machine may be about to start this run, or to report it.
  const turn = whenFree(join(context.home, `${mine.name}.lock`), () => heldWork(context, mine, work), 0);
  return turn.catch((error: unknown) => {
    if (error instanceof RalphError && error.code === "turn_held") return 0;
    throw error;
  });
}

async function heldWork(context: Context, mine: IssueClaim, work: IssueWork): Promise<number> {
  const { forge, issue, home, stop, tell } = context;
  const lost = new AbortController();
  const hold = async (): Promise<void> => {
    if (!(await renew(forge, issue.number, mine))) lost.abort();
  };
  const renewing = setInterval(() => void hold().catch(() => {}), RENEW_MS).unref();
  const code = await work(AbortSignal.any([stop, lost.signal])).finally(() => clearInterval(renewing));
  if (!stop.aborted && code !== 130) await hold();
  if (lost.signal.aborted) {
    tell(`issue ${issue.number}: another ralph has it by now; what ${mine.name} did stays in its worktree`);
    await forge.issues.remove(mine.comment);
    return 1;
  }
  const run = ownRun(home, mine.name);
  // It was interrupted: the claim stays, and the run goes on another time.
  if (stop.aborted || code === 130) return 130;
  if (run?.state() === undefined) {
    await forge.issues.remove(mine.comment);
    await forge.issues.removeLabel(issue.number, WORKING);
    return code;
  }
  return report(context, mine, run);
}

async function report(context: Context, mine: IssueClaim, run: RunFolder): Promise<number> {
  const { forge, issue, tell } = context;
  const { number } = issue;
  const { success, question, reason, message, iterations } = run.state() ?? {};
  const say = async (text: string, what: string): Promise<void> => {
    const whole = marked(createRedactor(process.env)(text), what);
    const comments = await forge.issues.comments(number);
    if (!comments.some(({ body }) => markerOf(body) === markerOf(whole)))
      await forge.issues.comment(number, whole);
  };
  const end = async (label: string, outcome: string): Promise<void> => {
    await forge.issues.addLabel(number, label);
    await forge.issues.removeLabel(number, WORKING);
    await release(forge, mine, outcome);
    tell(`issue ${number}: ${outcome}`);
  };
  if (success) {
    const { pull } = await deliver(run, {}, tell);
    await say(`Done: #${pull.number}.`, `done ${mine.name}`);
    await end(DONE, `pull request ${pull.number}`);
    return 0;
  }
  const again = "Answer here, and ralph continues. It listens only to people with write access.";
  const why = `The run stopped (${reason}${message ? `: ${harmlessLine(message)}` : ""}).`;
  const asks = question === undefined ? why : `The agent asks:\n\n${question.text.replace(/^/gm, "> ")}`;
  await say(`${asks}\n\n${again}`, `asked ${mine.name} ${iterations}`);
  await end(BLOCKED, question === undefined ? `stopped, ${reason}` : "it waits for an answer");
  return question === undefined ? 1 : 0;
}
