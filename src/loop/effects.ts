import type {
  AgentFinished,
  FileChange,
  LimitedAgent,
  Limits,
  LoopEventBody,
  RunFinished,
} from "../events.js";
import type { RunState } from "../records/run-state.js";
import type { Tree } from "../tree.js";

/** What the loop needs from the world. Tests pass their own. */
export interface Effects {
  /** Yields `agent.*` events. Must not throw for anything an agent does. */
  runAgent(request: AgentRequest): AsyncGenerator<LoopEventBody, AgentRun>;
  clock: Clock;
  /** The workspace, compared before and after each verification. */
  tree: Omit<Tree, "before">;
  /** The files that differ from the start of the run; null outside a repository. */
  changedFiles(): Promise<FileChange[] | null>;
  /** Called once before the run closes: saves work that is not safe yet. */
  settle(iterations: number): AsyncGenerator<LoopEventBody, WorkLeft>;
  /** Called once after success: records what was verified. */
  prove?(state: RunState): Promise<Pick<RunFinished, "receipt" | "unproven">>;
  isPaused(): boolean;
  /** Called before a long wait within an iteration: the user may change files meanwhile. */
  handOver?(iteration: number): AsyncGenerator<LoopEventBody, void>;
  /** Called before each decision, because limits can change while the loop runs. */
  limits?(): Limits;
  /** Agents, by role, that this run avoids because other runs met their limits. */
  limited?(): Record<string, LimitedAgent>;
  /** The user's message for the next iteration, kept until `taken` is called. */
  steering?():
    | {
        text: string;
        /** The message is in the journal; delete the other copy. */
        taken(): void;
      }
    | undefined;
  signals: Signals;
}

export interface WorkLeft {
  /** The run's own worktree, if it has one. */
  worktree: string | null;
  /** Why merging the branch does not bring all the work; without a worktree: git's unfinished operation. */
  unsettled?: string;
}

export interface Budget {
  remaining: Remaining;
  /** The highest price of a token in this run, if known. */
  pricePerToken?: number | undefined;
}

export interface AgentRequest extends Budget {
  iteration: number;
  /** 2 and up when the loop repeats a call that got an empty answer. */
  attempt: number;
  prompt: string;
  /** Reads from the agent's last words that ralph can end it. */
  isDone?: ((said: string) => boolean) | undefined;
  /** The role of the agent to call, if it is not the agent of the run. */
  agent?: string | undefined;
  /** The name of the agent that this one replaces. */
  insteadOf?: string | undefined;
}

/** undefined: no limit. */
export interface Remaining {
  costUsd: number | undefined;
  tokens: number | undefined;
  timeMs: number | undefined;
}

/** The result of a call, as `agent.finished` records it. */
export type AgentRun = Pick<
  AgentFinished,
  "finalMessage" | "error" | "empty" | "stopped" | "costUsd" | "durationMs" | "steps" | "limit" | "signedOut"
>;

export interface Clock {
  now(): Date;
  /** Milliseconds on a clock that nobody can set. */
  elapsed(): number;
  /** Ends early when the signal is aborted. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Signals {
  /** First SIGINT or SIGTERM: finish the current operation, then end. */
  stop: AbortSignal;
  /** Second signal: end the current operation, too. */
  kill: AbortSignal;
  /** Several loops have used up a limit that they share: end their agents, with the signal's reason. */
  over?: AbortSignal | undefined;
}
