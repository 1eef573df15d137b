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
