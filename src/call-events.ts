import type { AgentEvent } from "./agent-events.js";

export interface AgentStarted {
  type: "agent.started";
  iteration: number;
  agent: string;
  command: string[];
  /** 2 and up when an empty answer is asked for again. */
  attempt: number;
  /** The beginning of it; all of it is in the iteration's folder. */
  prompt: string;
  /** Which of the run's other agents it is, such as `reviewer` or `fallback-1`. */
  role?: string;
  /** The agent in whose place it is asked, because that one is limited or down. */
  insteadOf?: string;
  /** Of an agent that tells what it costs: what it may spend, null: as much as it likes. */
  allowanceUsd?: number | null;
}

export interface AgentSaid {
  type: "agent.event";
  iteration: number;
  event: AgentEvent;
}

export type AgentStop =
  | "inactivity"
  | "iteration_timeout"
  | "budget_exhausted"
  | "timeout"
  | "interrupted"
  /** It had begun to use what is paid for extra. */
  | "overage"
  /** It had said what means that the work is done. */
  | "done";

export interface AgentFinished {
  type: "agent.finished";
  iteration: number;
  exitCode: number | null;
  signal: string | null;
  durationMs: number;
  /** null: the agent reports no cost. */
  costUsd: number | null;
  /** It was ended before it told its cost: a part of `costUsd` is what its tokens are taken to have cost. */
  costEstimated?: true;
  /** All that it read, from its cache, too. */
  inputTokens: number;
  /** All that it wrote, its thoughts included. */
  outputTokens: number;
  /** The part of `inputTokens` that came from the cache. */
  cacheReadTokens: number;
  /** The part that was written into it. */
  cacheWriteTokens: number;
  /** How many tools it used. */
  steps: number;
  /** Why this run of the agent counts as failed, else null. */
  error: string | null;
  /** Exit 0 without a word: it is asked again. */
  empty: boolean;
  /** Processes that it left running: they were ended. */
  left?: number;
  /** Why ralph ended the agent, if it did. */
  stopped: AgentStop | null;
  finalMessage: string;
  log: string;
  /** Why the log is incomplete, if it is. */
  logError?: string;
  /** Set when its usage limit is reached: what it said is no answer then. */
  limit?: UsageLimit;
  /** It has answered, and is using what is paid for extra: it is not asked again until that is over. */
  overage?: UsageLimit;
  /** Its service does not let it in: asking again would bring the same. */
  signedOut?: true;
}

export interface UsageLimit {
  /** ISO 8601, UTC; null: nobody told. */
  resetsAt: string | null;
  /** In the words of the agent, one line. */
  message: string;
}

/** An agent that is left alone for a while. */
export interface LimitedAgent {
  /** `down`: it failed before it did anything. */
  kind: "limit" | "down";
  /** The agent answered on paid extra usage: asking it again costs again. */
  overage?: true;
  /** ISO 8601, UTC. */
  until: string;
  /** When the first wait in a row began. */
  since: string;
  /** How often it was left alone in a row. */
  attempt: number;
  /** Whether the agent told the time. */
  stated: boolean;
  /** In the words of the agent. */
  message: string;
}

export interface CheckStarted {
  type: "check.started";
  /** 0: before the first one, for the baseline. */
  iteration: number;
  command: string;
  /** Which of the checks it is, from 1 on, where they may not run in their order. */
  place?: number;
  /** Why the checks of this iteration run once more. */
  again?: string;
}

export interface CheckFinished {
  type: "check.finished";
  iteration: number;
  command: string;
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  passed: boolean;
  durationMs: number;
  log: string;
  /** The end of what it printed; all of it is in the log. */
  output: string;
  /** The same word for failures that name the same tests. */
  failing?: string;
  /** Why it has failed though it exited 0. */
  why?: string;
  /** Processes that it left running: they were ended. */
  left?: number;
  /** It replaces an earlier result of this iteration at the same place. */
  again?: true;
  /** What a failure does to the next prompt. */
  failAction?: string;
  /**
   * It was not run: its inputs are unchanged since it passed (which counts as passed), or another check had
   * failed before (which does not), or an agent added it and there is no sandbox to run it in (nor does this).
   */
  skipped?: "unchanged" | "after_failure" | "untrusted";
  /** Which of the checks it is, from 1 on, where they may not run in their order. */
  place?: number;
  /** Why the log is incomplete, if it is. */
  logError?: string;
}

/** The checks as they were before the first iteration. */
export interface BaselineFinished {
  type: "baseline.finished";
  checks: BaselineCheck[];
}

/** A check, and what has become of it. */
export interface BaselineCheck {
  command: string;
  /** Whether it passed before the first iteration. */
  before: boolean;
  /** Whether it passed when it was last run. */
  now: boolean;
  /** Of one that failed before: the end of what it printed then, as long as no iteration is finished. */
  output?: string;
}

/** What one call of an agent took. */
export type CallSpending = Pick<
  AgentFinished,
  "costUsd" | "costEstimated" | "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens"
>;
