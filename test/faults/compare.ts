import { charged, noSpending } from "../../src/agents/spending.js";
import type { CallSpending, LoopEvent } from "../../src/events.js";
import { advanceRun } from "../../src/records/lanes.js";
import { initialState } from "../../src/records/run-state.js";
import type { Result } from "../kit.js";
import { cents, type Ending } from "./ending.js";

export interface Undisturbed {
  ending: Ending;
  events: LoopEvent[];
  durationMs: number;
}

interface Expected {
  ending: Ending;
  /** Whether the agent was at work: then it is asked again. */
  isAskedAgain: boolean;
  /** The same where all that the agent did was there, and was judged without asking it again. */
  judged?: Ending | undefined;
  /** What the agent had taken to word a commit message that may not have been used: then it words another one. */
  worded?: CallSpending | undefined;
}

/** "kill -9 at any instant loses at most the running iteration"; what it had cost until then is not forgotten. */
export function expected({ ending, events }: Undisturbed, written: LoopEvent[]): Expected {
  const asked = written.findLastIndex(({ type }) => type === "agent.started" || type === "agent.finished");
  const isAskedAgain = written[asked]?.type === "agent.started";
  const last = written.at(-1);
  const isNext = last?.type === "check.finished" && events.some(({ type }) => type === "scm.asked");
  // A call that nobody has written down yet costs nothing in the books.
  const worded = last?.type === "scm.asked" ? last.spent : isNext ? NOTHING : undefined;
  if (!isAskedAgain) return { ending, isAskedAgain, worded };
  const state = written.reduce(advanceRun, initialState(""));
  const told = charged(state.atWork ?? noSpending(), state);
  const call = events.slice(asked).find((event) => event.type === "agent.finished") ?? NOTHING;
  const isJudged = state.recipe === "stories";
  const judged = isJudged ? withMore(withMore(ending, told), call, -1) : undefined;
  return { isAskedAgain, ending: withMore(ending, told), judged };
}

const NOTHING = { costUsd: null, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

function withMore(
  ending: Ending,
  { costUsd, inputTokens, outputTokens }: Pick<CallSpending, "costUsd" | "inputTokens" | "outputTokens">,
  sign = 1,
): Ending {
  const tokens = ending.tokens + sign * (inputTokens + outputTokens);
  return { ...ending, costUsd: cents(ending.costUsd + sign * (costUsd ?? 0)), tokens };
}

export function differences(
  { ending: asked, isAskedAgain, worded, judged }: Expected,
  found: Ending,
  again: Result,
): string[] {
  const more = found.calls - asked.calls;
  const isJudged = judged !== undefined && more === 0 && found.tokens === judged.tokens;
  const whole = isJudged ? judged : asked;
  const isWordedAgain = worded !== undefined && more === 1;
  const ending = isWordedAgain ? { ...withMore(whole, worded), calls: found.calls } : whole;
  const calls = more === 0 || (isAskedAgain && more === 1) ? ending.calls : found.calls;
  const keys = Object.keys(ending) as (keyof Ending)[];
  const commits = isAskedAgain ? withoutRepeats(found.commits) : found.commits;
  const same = { ...found, calls, commits };
  const differing = keys.flatMap((key) => difference(key, ending[key], same[key]));
  return differing.length === 0
    ? []
    : [...differing, `ralph resume said: ${again.code} ${again.all.slice(-600)}`];
}

/** What a lost try has committed stays; what it may not have done is put back, and done again. */
function withoutRepeats(commits: string[]): string[] {
  return [...new Set(commits)].filter((commit) => !/^\w+ ralph: put back /.test(commit));
}

function difference(key: string, was: unknown, is: unknown): string[] {
  if (!Array.isArray(was) || !Array.isArray(is))
    return JSON.stringify(was) === JSON.stringify(is)
      ? []
      : [`${key}: ${JSON.stringify(is)} instead of ${JSON.stringify(was)}`];
  const gone = was.filter((item) => !is.includes(item)).map((item) => `${key}: without ${item}`);
  const extra = is.filter((item) => !was.includes(item)).map((item) => `${key}: with ${item}`);
  const isOther = gone.length + extra.length === 0 && was.join() !== is.join();
  return [...gone, ...extra, ...(isOther ? [`${key}: ${is.join()} instead of ${was.join()}`] : [])];
}
