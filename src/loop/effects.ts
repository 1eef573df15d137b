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

/** What the loop needs from the world. Tests hand in their own. */
export interface Effects {
  /** Yields `agent.*` events. Must not throw for anything an agent does. */
  runAgent(request: AgentRequest): AsyncGenerator<LoopEventBody, AgentRun>;
  clock: Clock;
  /** The workspace, compared before and after each verification. */
  tree: Omit<Tree, "before">;
  /** The files that differ from the start of the run, where that can be told. */
  changedFiles(): Promise<FileChange[] | null>;
  /** Called once before the run is closed: keeps what is not safe yet. */
  settle(iterations: number): AsyncGenerator<LoopEventBody, WorkLeft>;
  /** Called once where the run has succeeded: writes down what was verified. */
  prove?(state: RunState): Promise<Pick<RunFinished, "receipt" | "unproven">>;
  isPaused(): boolean;
  /** Before a long wait in an iteration, in which the files are the user's. */
  handOver?(iteration: number): AsyncGenerator<LoopEventBody, void>;
  /** Where limits can be changed while the loop runs: asked before each decision. */
  limits?(): Limits;
  /** Agents that are left alone because other runs met their limits, by their roles. */
  limited?(): Record<string, LimitedAgent>;
  /** What the user wants the next iteration to know. It is kept until it is written down. */
  steering?():
    | {
        text: string;
        /** They are in the journal: they need not be kept elsewhere. */
        taken(): void;
      }
    | undefined;
  signals: Signals;
}

export interface WorkLeft {
  /** The run's own worktree, if it has one. */
  worktree: string | null;
  /** Why merging its branch does not bring all of the work; without a worktree, what is under way in git. */
  unsettled?: string;
}

export interface Budget {
  remaining: Remaining;
  /** What the dearest token of the run has cost, where that is known. */
  pricePerToken?: number | undefined;
}

export interface AgentRequest extends Budget {
  iteration: number;
  /** 2 and up when an empty answer is asked for again. */
  attempt: number;
  prompt: string;
  /** Tells from the agent's own last words that it need not go on. */
  isDone?: ((said: string) => boolean) | undefined;
  /** Another agent than that of the run, by its role. */
  agent?: string | undefined;
  /** The name of the one in whose place it is asked. */
  insteadOf?: string | undefined;
}

/** undefined is without limit. */
export interface Remaining {
  costUsd: number | undefined;
  tokens: number | undefined;
  timeMs: number | undefined;
}

/** What came of asking an agent, as `agent.finished` tells it. */
export type AgentRun = Pick<
  AgentFinished,
  "finalMessage" | "error" | "empty" | "stopped" | "costUsd" | "durationMs" | "steps" | "limit" | "signedOut"
>;

export interface Clock {
  now(): Date;
  /** Milliseconds that no change of the clock touches. */
  elapsed(): number;
  /** Ends early when the signal is aborted. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Signals {
  /** First SIGINT or SIGTERM: finish the operation at work, then end. */
  stop: AbortSignal;
  /** Second one: end the operation, too. */
  kill: AbortSignal;
  /** What several loops share is used up: their agents are ended, for the reason of the signal. */
  over?: AbortSignal | undefined;
}
