import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { whenFree } from "../records/lock.js";
import { createRedactor } from "../records/redact.js";
import type { RunFolder } from "../records/runs.js";
import { harmlessLine } from "../views/harmless.js";
import { branchOfRun } from "./deliver.js";
import { type Delivery, deliveryOf, keepDelivery, type Round } from "./delivery.js";
import {
  conflict,
  type Feedback,
  failedChecks,
  look,
  type PullState,
  requests,
  roundTask,
  stopWords,
} from "./feedback.js";
import { fullName, isPassing, type PullRequest } from "./forge.js";
import { fetchBranch, takeOver } from "./push.js";
import { forgeOf, requirePush } from "./remote.js";
import {
  type Context,
  change,
  type FollowOptions,
  following,
  type Rounds,
  settle,
  spentIn,
} from "./round.js";

/** Why it is over; undefined: it goes on. */
type End = { reason: string; exitCode: number } | undefined;

const ROUNDS = 3;
/** Nobody waits for an answer of the server meanwhile. */
const PATIENCE_MS = 3 * 3_600_000;

/**
 * Stays with the pull request of a run until it is merged or closed: what comes back becomes a round, verified before
 * it is pushed, and is answered. Everything is written down before it is done, so that a kill loses nothing.
 */
export async function follow(
  run: RunFolder,
  options: FollowOptions,
  rounds: Rounds,
): Promise<NonNullable<End>> {
  return whenFree(join(run.path, "follow.lock"), () => untilEnd(run, options, rounds), 0).catch((error) => {
    if (!(error instanceof RalphError && error.code === "turn_held")) throw error;
    throw new RalphError(`another ralph follows the pull request of run ${run.name()}`, {
      code: "follow_held",
      hint: "end it with Ctrl+C first",
    });
  });
}

async function untilEnd(run: RunFolder, options: FollowOptions, rounds: Rounds): Promise<NonNullable<End>> {
  const { number } = begin(run, options);
  const { tell, stop, pollMs } = options;
  const { worktree, ...places } = branchOfRun(run);
  if (worktree === undefined)
    throw new RalphError(`run ${run.name()} had several lanes, so ralph cannot tell which one to continue`, {
      code: "worktree_missing",
      hint: "only runs with --worktree are followed",
    });
  const forge = await forgeOf(places.checkout, { tell, stop, patienceMs: PATIENCE_MS }, deliveryOf(run));
  await requirePush(forge);
  const context: Context = { ...options, ...rounds, ...places, worktree, run, forge, number };
  await requireOwnBranch(context);
  tell(`following pull request ${number} of ${fullName(forge.repo)}, checking every ${pollMs / 1000} s`);
  for (;;) {
    const end = stop.aborted ? INTERRUPTED : await step(context).catch((error) => afterError(error, context));
    if (end === undefined) {
      await sleep(pollMs, undefined, { signal: stop }).catch(() => {});
      continue;
    }
    if (end !== INTERRUPTED) change(run, { ended: end.reason });
    return end;
  }
}

const INTERRUPTED = { reason: "interrupted", exitCode: 130 };

/** A network failure ends nothing: ralph reports it and tries again. */
function afterError(error: unknown, { tell, stop }: Context): End {
  if (stop.aborted) return INTERRUPTED;
  if (!(error instanceof RalphError && isPassing(error))) throw error;
  tell(`${harmlessLine(error.message)}; trying again`);
  return undefined;
}

/** Written down as followed, with limits that hold over all of its rounds. */
function begin(run: RunFolder, { maxRounds, maxCostUsd }: FollowOptions): { number: number } {
  const delivery = deliveryOf(run);
  if (delivery?.number == null)
    throw new RalphError(`run ${run.name()} has no pull request`, {
      code: "pull_missing",
      hint: `ralph pr ${run.name()} opens it`,
    });
  const { maxRounds: rounds = ROUNDS, maxCostUsd: cost = null, ...before } = delivery.follow ?? {};
  const limits = { maxRounds: maxRounds ?? rounds, maxCostUsd: maxCostUsd ?? cost, ended: null };
  keepDelivery(run, { ...delivery, follow: { rounds: [], handled: [], ...before, ...limits } });
  return { number: delivery.number };
}

/** Ones of forks are not ralph's to push to. */
async function requireOwnBranch({ forge, number, branch }: Context): Promise<void> {
  const pull = await forge.pulls.get(number);
  const { head, isOpen, base } = pull;
  const isOwn = head.repository.toLowerCase() === fullName(forge.repo).toLowerCase();
  if (isOpen && !(isOwn && head.branch === branch))
    throw new RalphError(
      `pull request ${number} comes from ${head.repository}:${head.branch}, not from ${branch}`,
      { code: "pull_foreign", hint: "ralph follows only pull requests whose branch it has pushed itself" },
    );
  if (isOpen && (await forge.branch(base)) === undefined)
    throw new RalphError(baseGone(pull), {
      code: "base_gone",
      hint: `${forge.commands.setBase(number, "BRANCH")} names another one`,
    });
}

/** One look, and one round where something came back. undefined: there is nothing to do now. */
async function step(context: Context): Promise<End> {
  const unsettled = following(context).rounds.at(-1);
  if (unsettled !== undefined && unsettled.state !== "answered")
    return (await settle(context, unsettled)) ? undefined : INTERRUPTED;
  const seen = await look(context.forge, context.number);
  const end = endOf(context, seen);
  if (end !== undefined) return end;
  const taken = await takeOverPushed(context, seen);
  if (taken !== undefined && "reason" in taken) return taken;
  const feedback = [...(taken === undefined ? [] : [taken]), ...(await feedbackOn(context, seen))];
  if (feedback.length === 0) return undefined;
  const refusal = whyNoRound(context, feedback);
  if (refusal !== undefined) return { reason: refusal, exitCode: 1 };
  return (await settle(context, beginRound(context, seen, feedback))) ? undefined : INTERRUPTED;
}

function endOf(context: Context, seen: PullState): End {
  const { number, run } = context;
  if (seen.pull.isMerged) return { reason: `pull request ${number} is merged`, exitCode: 0 };
  const over = (reason: string): End => ({ reason, exitCode: 1 });
  if (!seen.pull.isOpen) return over(`pull request ${number} was closed without a merge`);
  if (seen.base === undefined) return over(baseGone(seen.pull));
  const { handled } = following(context);
  const stop = stopWords(seen, handled);
  if (stop === undefined) return undefined;
  change(run, { handled: [...handled, stop.id] });
  return over(`${stop.by} said /ralph stop`);
}

const baseGone = ({ number, base }: PullRequest): string =>
  `the base of pull request ${number} is gone: ${base}`;

async function feedbackOn(context: Context, seen: PullState): Promise<Feedback[]> {
  const { forge, checkout } = context;
  const { handled } = following(context);
  const { pull } = seen;
  const isStuck = pull.mergeable === false;
  const base = isStuck ? await fetchBranch(forge, checkout, pull.base) : "";
  // With a conflict, checks say something of a state that does not last.
  const failures = isStuck
    ? [conflict(pull.base, base)]
    : await failedChecks(forge, seen, handled, createRedactor(process.env));
  return [...failures, ...requests(seen, handled)];
}

/** Commits of others on the branch become part of the work. */
async function takeOverPushed(context: Context, { pull }: PullState): Promise<End | Feedback> {
  const { run, forge, checkout, worktree, branch, tell } = context;
  const { tip } = deliveryOf(run) ?? {};
  if (tip == null || pull.head.commit === tip) return undefined;
  const now = await fetchBranch(forge, checkout, branch);
  const taken = await takeOver(worktree, tip, now);
  if (taken === "conflict") return conflict(`what others pushed to ${branch}`, now);
  if (taken !== "taken") {
    const why = {
      rewritten: `somebody rewrote ${branch}; look at it in ${worktree}`,
      blocked: `what others pushed to ${branch} cannot be taken over: ${worktree} is not clean`,
    };
    return { reason: why[taken], exitCode: 1 };
  }
  tell(`took over what others pushed to ${branch} (${now.slice(0, 12)})`);
  keepDelivery(run, { ...(deliveryOf(run) as Delivery), tip: now });
  return undefined;
}

function whyNoRound(context: Context, feedback: Feedback[]): string | undefined {
  const { rounds, maxRounds, maxCostUsd } = following(context);
  const what = feedback.map((one) => one.what).join(", ");
  const known = rounds.flatMap(({ failure }) => failure.split(" "));
  const again = feedback.filter(({ failure }) => failure !== null && known.includes(failure));
  if (again.length > 0) return `the same failure came twice: ${again.map((one) => one.what).join(", ")}`;
  if (rounds.length >= maxRounds) return `all ${maxRounds} rounds are used up, and there is more: ${what}`;
  const spent = spentIn(context);
  if (maxCostUsd !== null && spent >= maxCostUsd)
    return `the rounds have cost $${spent.toFixed(2)} of $${maxCostUsd}`;
  return undefined;
}

function beginRound(context: Context, { pull }: PullState, feedback: Feedback[]): Round {
  const { run, tell } = context;
  const { rounds, maxRounds } = following(context);
  const redact = createRedactor(process.env);
  const failure = feedback.flatMap((one) => one.failure ?? []).join(" ");
  const round: Round = {
    ...{ run: null, failure, state: "working", outcome: null },
    about: feedback.map(({ id, what, thread }) => ({ id, what, thread })),
    task: redact(roundTask(pull, feedback, context.task)),
    from: deliveryOf(run)?.tip ?? pull.head.commit,
  };
  change(run, { rounds: [...rounds, round] });
  tell(
    `round ${rounds.length + 1} of ${maxRounds}: ${feedback.map(({ what }) => harmlessLine(what)).join(", ")}`,
  );
  return round;
}
