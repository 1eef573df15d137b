import type {
  BaselineCheck,
  IterationFinished,
  LimitedAgent,
  Limits,
  Question,
  StopReason,
  Totals,
} from "../events.js";
import { ESCALATED } from "../records/limited.js";
import { witnessOf } from "../records/result.js";
import { type RunState, spendingOf } from "../records/run-state.js";
import { isFallback, nameOf } from "./ask.js";
import type { AgentRun } from "./effects.js";
import type { Verdict } from "./recipe.js";
import { type Events, limitReached, limitsOf, type Run } from "./run.js";

interface Iteration {
  iteration: number;
  answer: AgentRun;
  verdict: Verdict;
  /** The agent's question for a human. */
  asked: Question | undefined;
  durationMs: number;
  /** The state of the files before verification, if known. */
  treeBefore: string | undefined;
}

/** The event that ends an iteration. It also says whether it ends the run. */
export async function finished(run: Run, work: Iteration): Promise<IterationFinished> {
  const { iteration, answer, verdict, durationMs } = work;
  const { state, stopwatch } = run;
  const failed = answer.error !== null;
  const failure = failed ? undefined : verdict.failure;
  const tree = failure === undefined ? undefined : await treeFor(run);
  const made = work.treeBefore ?? tree;
  const still = standstill(state, { failure, tree: made });
  const { alike, ...left } = still;
  const limited = leftAlone(run);
  const { pricePerToken } = state;
  const totals = {
    ...spendingOf(state),
    ...(pricePerToken !== undefined && { pricePerToken }),
    activeMs: Math.round(stopwatch.activeMs()),
    consecutiveFailures: failed ? state.consecutiveFailures + 1 : 0,
    alike,
  };
  const question = verdict.stop === undefined ? work.asked : undefined;
  return {
    type: "iteration.finished",
    iteration,
    passed: !failed && verdict.passed,
    reason: reasonOf(work),
    durationMs: Math.round(durationMs),
    claimedDone: verdict.claimedDone,
    totals,
    ...ending(run, work, totals, still, made !== state.tree),
    ...(question && { question }),
    ...(failure && { failure }),
    ...(tree && { tree }),
    ...left,
    ...(isEscalated(run, still, failure) && { escalated: true as const }),
    ...(Object.keys(limited).length > 0 && { limited }),
    ...(verdict.memory !== undefined && { memory: verdict.memory }),
    ...baselineNow(state),
  };
}

/** An identifier for the state of the files; undefined if the run does not ask whether they change. */
export async function treeFor(run: Run): Promise<string | undefined> {
  const { tree, signals } = run.effects;
  if (limitsOf(run).stuckAfter === 0 || signals.stop.aborted) return undefined;
  const { content } = await tree.read();
  // A reading that a signal cut off proves nothing.
  return signals.stop.aborted ? undefined : content;
}

/** The loop avoids an agent that is down only if another one can replace it. */
function leftAlone({ state, options }: Run): Record<string, LimitedAgent> {
  const hasOthers = Object.keys(options.others ?? {}).some(isFallback);
  return Object.fromEntries(
    Object.entries(state.limited).filter(([, { kind }]) => kind === "limit" || hasOthers),
  );
}

function reasonOf({ answer, verdict, asked }: Iteration): string {
  if (answer.error !== null) return `agent ${answer.stopped ? "stopped" : "failed"}: ${answer.error}`;
  if (asked === undefined || verdict.stop !== undefined) return verdict.reason;
  return `${asked.kind === "decide" ? "the agent asks" : "the agent is blocked"}: ${asked.text}`;
}

function ending(
  run: Run,
  { iteration, verdict, asked, answer }: Iteration,
  totals: Totals,
  still: Standstill,
  isBackAndForth: boolean,
): Pick<IterationFinished, "stop" | "diagnosis"> {
  const limits = limitsOf(run);
  const isLastFailure = totals.consecutiveFailures >= limits.maxFailures;
  const stop = verdict.stop ?? (asked && "blocked") ?? stopAfter(answer, isLastFailure);
  if (stop !== undefined) return { stop };
  // A limit that the same iteration reaches is the reason to stop.
  if (limitReached({ ...totals, iterations: iteration }, limits) !== undefined) return {};
  if (timesStuck(still, limits) < (hasStronger(run) ? 2 : 1)) return {};
  const escalated = run.state.escalated ? nameOf(run, ESCALATED) : undefined;
  // A run that is stuck has no question, and its agent did not fail.
  return { stop: "stuck", diagnosis: diagnosis(still, isBackAndForth, verdict.reason, escalated) };
}

function stopAfter({ stopped, signedOut }: AgentRun, isLastFailure: boolean): StopReason | undefined {
  if (stopped === "budget_exhausted" || stopped === "timeout") return stopped;
  return signedOut || isLastFailure ? "agent_failed" : undefined;
}

function hasStronger({ options }: Run): boolean {
  return options.others?.[ESCALATED] !== undefined;
}

/** A run that is stuck gets the stronger model until it fails in a new way. */
function isEscalated(run: Run, still: Standstill, failure: string | undefined): boolean {
  if (failure === undefined || !hasStronger(run)) return false;
  return timesStuck(still, limitsOf(run)) > 0 || (run.state.escalated && failure === run.state.failure);
}

/** Runs the checks once before the first iteration, if asked to: what fails then is not the agent's fault. */
export async function* runBaseline({ recipe, effects, state }: Run): Events<void> {
  if (recipe.baseline === undefined || state.baseline !== undefined || state.iterations > 0) return;
  const results = yield* recipe.baseline({ iteration: 0, ...effects.signals });
  if (results !== undefined && results.length > 0)
    yield {
      type: "baseline.finished",
      checks: results.map(({ command, passed, output }) => {
        const both = { before: passed, now: passed };
        return { command, ...both, witness: witnessOf(both), ...(!passed && { output }) };
      }),
    };
}

/** The state of each check, without its output. */
export function baselineNow({ baseline }: Pick<RunState, "baseline">): { baseline?: BaselineCheck[] } {
  if (baseline === undefined) return {};
  const now = baseline.map((check) => {
    const { command, before, now } = check;
    return { command, before, now, witness: witnessOf(check) };
  });
  return { baseline: now };
}

/** Appends the baseline to the prompt of any recipe. `about`: names of the checks to include, else all. */
export function withBaseline(
  prompt: string,
  { baseline = [] }: Pick<RunState, "baseline">,
  about?: string[],
): string {
  const failing = baseline.filter(({ command, now }) => !now && (about?.includes(command) ?? true));
  const old = failing.filter(({ before }) => !before);
  const broken = failing.filter(({ before }) => before);
  return [
    prompt,
    part("These checks failed before this run began, and they must pass:", old),
    part("These checks passed before this run began; this run broke them:", broken),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

function part(title: string, checks: BaselineCheck[]): string {
  return checks.length === 0 ? "" : [title, ...checks.map(item)].join("\n");
}

function item({ command, output = "" }: BaselineCheck): string {
  const said = output.trim();
  const lines = said === "" ? [] : ["  It said then:", ...said.split("\n").map((line) => `      ${line}`)];
  return [`- ${command.replaceAll("\n", "\n  ")}`, ...lines].join("\n");
}

/** How many states of the run the loop remembers. */
const MAX_RECENT = 6;
/** Two like attempts: the one before, and this one. */
const HINT_AT = 2;

type Standstill = Pick<IterationFinished, "recent"> & { alike: number };

/**
 * How many iterations in a row, including this one, brought nothing new: no file changed, or the files
 * returned to an earlier state, and the checks said what they had said then. `failure` is equal for failures
 * of the same kind; undefined: the iteration did not fail.
 */
function standstill(
  before: Pick<RunState, "alike" | "failure" | "tree" | "recent">,
  { failure, tree }: Partial<Pick<RunState, "failure" | "tree">>,
): Standstill {
  if (failure === undefined || tree === undefined) return { alike: 0 };
  const known = before.tree === undefined ? [] : [stateWord(before.tree, before.failure)];
  const recent = [...before.recent, ...known].slice(-MAX_RECENT);
  if (tree === before.tree) return { alike: failure === before.failure ? before.alike + 1 : 1, recent };
  // Nobody knows what the checks would have said about the initial files.
  const hasBeen = recent.includes(tree) || recent.includes(stateWord(tree, failure));
  return { alike: hasBeen ? before.alike + 1 : 0, recent };
}

function stateWord(tree: string, failure: string | undefined): string {
  return `${tree} ${failure ?? ""}`.trim();
}

/** How often the run has reached the number of like iterations that means stuck. */
function timesStuck({ alike }: Standstill, { stuckAfter }: Limits): number {
  return stuckAfter === 0 ? 0 : Math.floor(alike / stuckAfter);
}

/** A hint for the next agent when attempts begin to repeat; otherwise undefined. */
export function stuckHint({ alike }: Standstill, { stuckAfter }: Limits): string | undefined {
  if (stuckAfter === 0 || alike < HINT_AT) return undefined;
  return `The last ${alike} attempts failed in the same way; try another way. They changed nothing that lasted: find out why before you try again.`;
}

/** Why ralph gives a run up as stuck, in one line. */
function diagnosis(
  { alike }: Standstill,
  isBackAndForth: boolean,
  reason: string,
  escalated: string | undefined,
): string {
  const times = alike === 1 ? "1 iteration" : `${alike} iterations in a row`;
  const what = isBackAndForth
    ? `in ${times} the files only returned to an earlier state`
    : `${times} changed no file and failed in the same way`;
  const tried = escalated === undefined ? "" : `; ${escalated} could not help either`;
  return `${what}: ${reason}${tried}`;
}
