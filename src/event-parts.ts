export type * from "./lane-events.js";

/** What is the same for all events. */
export interface Envelope {
  v: 1;
  /** ISO 8601, UTC. */
  ts: string;
  run: string;
  /** Of a run with several lanes: the lane that it is about, and no other. Without it, it is about the run. */
  lane?: string;
}

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

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

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

/** What became of a check since the run began: only what went from red to green proves something new. */
export type Witness = "red→green" | "green→green" | "red→red" | "green→red";

/** A check, and what has become of it. */
export interface BaselineCheck {
  command: string;
  /** Whether it passed before the first iteration. */
  before: boolean;
  /** Whether it passed when it was last run. */
  now: boolean;
  /** The two in a word; runs of earlier releases have none. */
  witness?: Witness;
  /** Of one that failed before: the end of what it printed then, as long as no iteration is finished. */
  output?: string;
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

/** A file that differs from the start of the run. */
export interface FileChange {
  /** Relative to the top of the repository. */
  path: string;
  change: "added" | "modified" | "deleted";
  /** Lines; null where they cannot be counted, as in a binary file. */
  added: number | null;
  removed: number | null;
}

/** What one call of an agent took. */
export interface CallSpending {
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
}

/** What a gate of a pipeline said, and how often its state was tried. */
export interface GateVerdict {
  state: string;
  passed: boolean;
  /** The line that tells most of what the gate said, or why it failed. */
  output: string;
  /** What it warned of. */
  warnings?: string[];
  /** Failures of the gate in this state so far. */
  retries: number;
  maxRetries: number;
}
