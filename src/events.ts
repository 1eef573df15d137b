import type {
  AgentFinished,
  AgentSaid,
  AgentStarted,
  BaselineCheck,
  BaselineFinished,
  CallSpending,
  CheckFinished,
  CheckStarted,
  LimitedAgent,
} from "./call-events.js";
import type { StopReason } from "./stop-reasons.js";

export type * from "./agent-events.js";
export type * from "./call-events.js";
export type { StopReason };

export interface Limits {
  maxIterations: number;
  maxCostUsd: number | null;
  maxTokens: number | null;
  maxTimeMs: number | null;
  iterationTimeoutMs: number | null;
  /** 0 switches it off. */
  inactivityTimeoutMs: number;
  maxFailures: number;
  /** 0 switches it off. */
  stuckAfter: number;
  /** Whether a usage limit that is reached is waited for. */
  waitForLimits: boolean;
  /** How long, from the first wait on. */
  maxLimitWaitMs: number;
  /** Whether the agent may go on with extra usage that is paid for. */
  allowOverage: boolean;
}

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** What ralph did. The journal, `--json` and every view carry the same events. */
export type LoopEvent = Envelope & LoopEventBody;

export interface Envelope {
  v: 1;
  /** ISO 8601, UTC. */
  ts: string;
  run: string;
}

export type LoopEventBody =
  | RunStarted
  | RunResumed
  | RunPaused
  | IterationStarted
  | AgentStarted
  | AgentSaid
  | AgentFinished
  | CheckStarted
  | CheckFinished
  | BaselineFinished
  | ScmAsked
  | ScmFinished
  | GateFinished
  | StateChanged
  | Violation
  | LocksRemoved
  | BackoffStarted
  | LimitWaiting
  | IterationFinished
  | RunFinished;

export interface RunStarted {
  type: "run.started";
  recipe: string;
  agent: string;
  /** The variable that holds the agent's key, if one is set: it decides who is billed. */
  credentials: string | null;
  workspace: string;
  limits: Limits;
  /** What agents and checks leave running is left alone. */
  background?: "keep";
}

/** The loop goes on after a pause, or in a new process (`limits` are set then). */
export interface RunResumed {
  type: "run.resumed";
  iterations: number;
  /** Time at work so far. */
  activeMs: number;
  agent: string;
  limits?: Limits;
  /** Where the checks stand, if there is a baseline. */
  baseline?: BaselineCheck[];
}

export interface RunPaused {
  type: "run.paused";
  iterations: number;
  /** Time at work so far. */
  activeMs: number;
}

export interface IterationStarted {
  type: "iteration.started";
  iteration: number;
  mode?: string;
  /** What it should be about, such as the id of a story. */
  about?: string;
  /** Files of a recipe that a person changed since the run was stopped or paused: they count as they are. */
  changed?: string[];
  /** How often the state of a pipeline was tried before, and how often it may be. */
  retries?: { count: number; max: number };
  /** State of the files before the first iteration; later ones stand in `iteration.finished`. */
  tree?: string;
  /** What somebody said while the loop ran (`ralph steer`): it stands at the end of this prompt. */
  steering?: string;
}

/** The agent has worded a commit message: what that took is written down before anything is committed. */
interface ScmAsked {
  type: "scm.asked";
  iteration: number;
  spent: CallSpending;
}

export interface ScmFinished {
  type: "scm.finished";
  iteration: number;
  task: string;
  passed: boolean;
  exitCode: number | null;
  durationMs: number;
  /** The commit message, what was skipped, or what went wrong. */
  message: string;
}

/** A gate of a pipeline has judged. */
export interface GateFinished {
  type: "gate.finished";
  iteration: number;
  state: string;
  passed: boolean;
  /** The line that tells most of what the gate said, or why it failed. */
  output: string;
  /** Failures of the gate in this state so far. */
  retries: number;
  maxRetries: number;
}

/** Something moved on: a story, or a pipeline to its next state, COMPLETE or GUTTER. */
export interface StateChanged {
  type: "state.changed";
  iteration: number;
  from: string;
  to: string;
  story?: string;
  title?: string;
  /** Reviews of the story so far. */
  reviews?: number;
  /** It was approved because the review cap was reached. */
  atCap?: boolean;
  /** Files that were written for people, as in the gutter. */
  saved?: string[];
}

/** The agent did what it may not do. What can be put back was put back. */
export interface Violation {
  type: "violation";
  iteration: number;
  what: string;
  story?: string;
  file?: string;
}

/** Locks of git that a call left behind, that nobody holds any more, and that would make every commit fail. */
export interface LocksRemoved {
  type: "locks.removed";
  iteration: number;
  files: string[];
}

export interface BackoffStarted {
  type: "backoff.started";
  iteration: number;
  seconds: number;
  attempt: number;
  maxAttempts: number;
}

/** A usage limit is reached: nothing is asked until then, and then the same iteration goes on. */
export interface LimitWaiting extends Omit<LimitedAgent, "kind"> {
  type: "limit.waiting";
  iteration: number;
  agent: string;
  /** Time at work so far: it stands still. */
  activeMs: number;
}

export interface IterationFinished {
  type: "iteration.finished";
  iteration: number;
  passed: boolean;
  reason: string;
  durationMs: number;
  /** Whether the agent said that it was done, right or wrong. */
  claimedDone: boolean;
  /** Everything up to here: with it, a journal is read from its last iteration on. */
  totals: Totals;
  /** Set when this iteration ends the run: a crash before `run.finished` does not undo it. */
  stop?: StopReason;
  /** Two iterations that failed in the same way have the same word here. */
  failure?: string;
  /** State of the files at the end. */
  tree?: string;
  /** What the recipe carries into the next iteration. */
  memory?: Json;
  /** What the agent wants to know from a human: it ends the run as `blocked`. */
  question?: Question;
  /** Agents that are left alone for a while, by their roles. */
  limited?: Record<string, LimitedAgent>;
  /** States of the files that were left behind lately, each with how the checks failed in it. */
  recent?: string[];
  /** From the next iteration on the stronger model is asked. */
  escalated?: true;
  /** Why it is thought to be stuck. */
  diagnosis?: string;
  /** Where the checks stand, if there is a baseline. */
  baseline?: BaselineCheck[];
}

export interface Question {
  /** `blocked`: it cannot go on; `decide`: it wants a decision. */
  kind: "blocked" | "decide";
  text: string;
}

export interface Totals {
  costUsd: number | null;
  /** A part of the cost is an estimate. */
  costEstimated?: boolean;
  /** What the dearest token of the run has cost. */
  pricePerToken?: number;
  inputTokens: number;
  outputTokens: number;
  /** The part of `inputTokens` that came from caches. */
  cacheReadTokens?: number;
  /** Time at work, over all processes of the run. */
  activeMs: number;
  /** Iterations in a row in which the agent itself failed. */
  consecutiveFailures: number;
  /** Iterations in a row that brought nothing new: they changed no file and failed in the same way, or went back. */
  alike: number;
}

export interface RunFinished {
  type: "run.finished";
  success: boolean;
  reason: StopReason;
  exitCode: number;
  iterations: number;
  costUsd: number | null;
  /** A part of the cost is an estimate: calls were ended before they told theirs. */
  costEstimated?: true;
  inputTokens: number;
  outputTokens: number;
  /** The part of `inputTokens` that came from caches. */
  cacheReadTokens?: number;
  durationMs: number;
  /** How many files differ from the start of the run; null outside a repository. */
  filesChanged: number | null;
  /** The first 500 of them. */
  files?: FileChange[];
  worktree: string | null;
  /** Why merging the branch of the worktree does not bring all of the work; without one, what is under way in git. */
  unsettled?: string;
  /** One line for people, where the reason alone does not tell. */
  message?: string;
  /** What the agent wants to know, when it is `blocked`: `ralph answer`. */
  question?: Question;
  /** A limit that is reached as well, and has to be raised to go on. */
  limit?: StopReason;
  /** Nothing can go on with it: `ralph resume` would end in the same way. */
  final?: true;
  /** Where the checks stand, if there is a baseline. */
  baseline?: BaselineCheck[];
}

/** How a run ended. */
export type Outcome = Omit<RunFinished, "type">;

/** A file that differs from the start of the run. */
export interface FileChange {
  /** Relative to the top of the repository. */
  path: string;
  change: "added" | "modified" | "deleted";
  /** Lines; null where they cannot be counted, as in a binary file. */
  added: number | null;
  removed: number | null;
}
