import { OWN_AGENT } from "../records/limited.js";
import type { AgentRequest, AgentRun } from "./effects.js";
import { waitForLimit } from "./limit-wait.js";
import { remaining } from "./limits.js";
import { candidates, endOf, nameOf } from "./roles.js";
import { type Events, limitsOf, type Run, type Stop } from "./run.js";

export interface Question extends Pick<AgentRequest, "prompt" | "agent" | "isDone"> {
  /** Whether the work is there, though nothing was said of it. */
  hasWorked?: (() => boolean) | undefined;
}

/** Times that an empty answer is asked for again. */
const EMPTY_RETRIES = 3;

/**
 * Asks the agent, or another one where it is limited or down. "again": a limit was waited for, and the same
 * iteration begins anew.
 */
export async function* ask(
  run: Run,
  iteration: number,
  question: Question,
): Events<AgentRun | Stop | "again"> {
  const { effects, state } = run;
  const all = candidates(run, question.agent);
  const [first = OWN_AGENT] = all;
  const tried = new Set<string>();
  let answer: AgentRun | undefined;
  for (;;) {
    const role = freeOne(run, all, tried);
    if (role === undefined) {
      const isLimited = all.some((one) => state.limited[one]?.kind === "limit");
      return isLimited || answer === undefined ? yield* waitForLimit(run, iteration, all) : answer;
    }
    tried.add(role);
    const insteadOf = role === first ? undefined : nameOf(run, first);
    const agent = role === OWN_AGENT ? undefined : role;
    answer = yield* askOne(run, iteration, { ...question, agent, insteadOf });
    if (effects.signals.stop.aborted || hasAnswered(run, role, answer)) return answer;
  }
}

/** One that is left alone from now on, for what it began to pay, has answered all the same. */
function hasAnswered({ state }: Run, role: string, { limit }: AgentRun): boolean {
  const entry = state.limited[role];
  return entry === undefined || (entry.kind === "limit" && limit === undefined);
}

/** The first that is neither limited nor down, and was not asked just now. */
function freeOne(run: Run, all: string[], tried: Set<string>): string | undefined {
  const { effects, state } = run;
  const left = all.filter((role) => !tried.has(role));
  const free = left.find((role) => {
    const entry = state.limited[role];
    if (entry === undefined || endOf(entry, limitsOf(run)) <= effects.clock.now().getTime()) return true;
    // One that is down and has no other in its place is asked all the same.
    return entry.kind === "down" && all.length === 1;
  });
  if (free !== undefined || tried.size > 0) return free;
  // Nobody wants to wait, or there is nothing to wait for: somebody has to be asked.
  const isLimited = all.some((role) => state.limited[role]?.kind === "limit");
  const isPaid = all.every((role) => state.limited[role]?.overage);
  return isLimited && (limitsOf(run).waitForLimits || isPaid) ? undefined : left[0];
}

/** Runs one agent; an empty answer is asked for again. */
async function* askOne(
  run: Run,
  iteration: number,
  { hasWorked, ...question }: Question & Pick<AgentRequest, "insteadOf">,
): Events<AgentRun> {
  const { effects, state, stopwatch } = run;
  for (let attempt = 1; ; attempt += 1) {
    const used = { ...state, activeMs: stopwatch.activeMs() };
    const { pricePerToken } = state;
    const left = remaining(used, limitsOf(run));
    const request = { ...question, iteration, attempt, remaining: left, pricePerToken };
    const answer = yield* effects.runAgent(request);
    if (!answer.empty || effects.signals.stop.aborted || hasWorked?.()) return answer;
    if (attempt > EMPTY_RETRIES) {
      const words = answer.error === null ? "" : `: ${answer.error}`;
      return { ...answer, error: `no answer, ${attempt} times in a row${words}` };
    }
  }
}
