/** What an agent said: one event model for every agent's stream. */
export type AgentEvent =
  | TextEvent
  | ToolStartEvent
  | ToolEndEvent
  | TodoEvent
  | ProgressEvent
  | ResultEvent
  | RateLimitEvent
  | AgentErrorEvent
  | UnknownEvent;

export interface TextEvent {
  type: "text";
  text: string;
  /** A piece of a message that is still being written: it continues the text before it. */
  delta?: true;
  /** Which message it is a part of: the words of another message replace it as the final one. */
  message?: string;
  /** Set for a subagent's words, which are never the agent's own final message. */
  subagent?: true;
}

export interface ToolStartEvent {
  type: "tool_start";
  id: string;
  name: string;
  /** One line that tells this call from others, such as the command or the file. */
  input: string;
  /** Set for a tool of a subagent. */
  subagent?: true;
}

export interface ToolEndEvent {
  type: "tool_end";
  id: string;
  isError: boolean;
  /** The beginning of the output; `lines` and `chars` measure all of it. */
  output: string;
  lines: number;
  chars: number;
  /** Set for a tool of a subagent. */
  subagent?: true;
}

export interface TodoEvent {
  type: "todo";
  /** The tool call that set it, where there is one. */
  id?: string;
  items: TodoItem[];
}

export interface TodoItem {
  text: string;
  status: "pending" | "in_progress" | "completed";
}

export interface ProgressEvent {
  type: "progress";
  message: string;
  /** What has been spent since the last report, as far as the agent tells while it runs. */
  usage?: LiveUsage;
  /** Somebody else spoke (the prompt, a hook): what the agent said before is not its final message. */
  newTurn?: true;
  /** The agent is at its end, and no result says so. */
  ended?: true;
}

export interface ResultEvent {
  type: "result";
  /** The agent's final message, where it reports one. */
  text?: string;
  /** Tokens of this result alone. */
  usage?: TokenUsage;
  /** Cost of the whole process so far: a second result replaces the first. */
  costUsd?: number;
  /** Set when the agent says that it failed, whatever its exit code. */
  error?: string;
  /** What its service answered last, as an HTTP status. */
  status?: number;
  /** When its service wants to be asked again. */
  retryAfterMs?: number;
}

export interface RateLimitEvent {
  type: "rate_limit";
  status: string;
  /** Seconds since the epoch. */
  resetsAt?: number;
  limitType?: string;
  usingOverage?: boolean;
}

/** A warning or a passing trouble: the agent goes on. Failures that end it are results. */
export interface AgentErrorEvent {
  type: "error";
  message: string;
  /** What its service answered, as an HTTP status. */
  status?: number;
  /** After how long it tries again. */
  retryAfterMs?: number;
}

export interface UnknownEvent {
  type: "unknown";
  line: string;
}

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

export interface LiveUsage extends TokenUsage {
  costUsd?: number;
  /** Reports with the same key describe the same model call: the last one counts. */
  key?: string;
}

export type StopReason =
  | "completed"
  /** The same, as `ralph loop` calls it. */
  | "all_checks_passed"
  | "max_iterations"
  | "budget_exhausted"
  | "timeout"
  | "agent_failed"
  | "stuck"
  | "gutter"
  | "blocked"
  | "violation"
  | "interrupted"
  | "error";

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
  /** It has answered on paid extra usage: whoever asks again pays again. */
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

/** What one call of an agent took. */
export type CallSpending = Pick<
  AgentFinished,
  "costUsd" | "costEstimated" | "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens"
>;

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

/** A file that differs from the start of the run. */
export interface FileChange {
  /** Relative to the top of the repository. */
  path: string;
  change: "added" | "modified" | "deleted";
  /** Lines; null where they cannot be counted, as in a binary file. */
  added: number | null;
  removed: number | null;
}
