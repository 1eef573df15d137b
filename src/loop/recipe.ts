import type {
  AgentFinished,
  BaselineCheck,
  CheckFinished,
  IterationStarted,
  Json,
  LoopEventBody,
  Question,
  StopReason,
} from "../events.js";
import type { Verification } from "../tree.js";
import type { Budget } from "./effects.js";

export interface VerifyContext extends Verification {
  /** For an extra call that the recipe makes, such as one for a commit message. */
  budget?: Budget | undefined;
}

/** What to ask next, and how to judge the answer. The loop owns everything else. */
export interface Recipe {
  readonly name: string;
  /** Whether an answer can fail verification, so that being stuck is possible. */
  readonly verifies: boolean;
  /** Reaching the last allowed iteration is no failure for this recipe. */
  readonly endsAtLimit?: true;
  /** The list of stories says what is left to do. */
  readonly keepsStories?: true;
  /** A `RalphError` ends the run with its message. */
  plan(context: PlanContext): Promise<Plan>;
  /** Runs after every agent. Expected failures are verdicts. undefined: a signal came before the verdict. */
  verify(answer: Answer, context: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined>;
  /** Runs the checks before the first iteration; left out if the user did not ask, or there are none. */
  baseline?(context: VerifyContext): AsyncGenerator<LoopEventBody, CheckFinished[] | undefined>;
  /** The agent's stop hook calls this while the agent works: why the agent may not stop yet, or undefined. */
  mayStop?(): Promise<string | undefined>;
  /** Until the next iteration begins, the user may change files: called before a pause or a long wait. */
  release?(): Promise<void>;
  /** Called when the run ends, for any reason, perhaps more than once. */
  close?(): void | Promise<void>;
}

export interface PlanContext {
  iteration: number;
  maxIterations: number;
  /** `memory` of the last verdict. */
  memory: Json | undefined;
  /** The agent answered before a crash: its work is in the files, and only verification is left. */
  answered: boolean;
  /** The results of the checks before the first iteration, if they ran then. */
  baseline?: BaselineCheck[] | undefined;
}

interface Plan {
  /** null: no agent is asked; ralph only verifies the files. */
  prompt: string | null;
  /** The kind of iteration, for recipes that have several. */
  mode?: string;
  /** Reads from the agent's last words that ralph can end it at once. */
  isDone?: (said: string) => boolean;
  /** Called after an empty answer: whether the agent did its work, so that ralph need not ask again. */
  hasWorked?: () => boolean;
  /** What the iteration works on, such as the id of a story. */
  about?: string | undefined;
  /** Files that a person changed while the run was stopped or paused: ralph accepts them as they are. */
  changed?: string[];
  /** How often this part was tried before, for recipes that retry. */
  retries?: IterationStarted["retries"];
  /** The checks that matter for this prompt; all by default. */
  checks?: string[];
  /** The role of the agent to ask, if it is not the agent of the run. */
  agent?: string | undefined;
}

export interface Answer extends Pick<AgentFinished, "costUsd" | "durationMs" | "steps"> {
  /** The agent's own final words; empty if the agent failed, because then they prove nothing. */
  finalMessage: string;
  /** Why the agent failed, or null. */
  error: string | null;
  /** The agent's question for a human. */
  asked?: Question | undefined;
}

export interface Verdict {
  passed: boolean;
  /** Why the iteration passed or failed, in a few words for people and programs. */
  reason: string;
  /** Whether the agent said that it was done, rightly or wrongly. */
  claimedDone: boolean;
  /** Set when the run is over: `completed`, or a reason that only the recipe can know. */
  stop?: StopReason;
  /** An identifier that is equal for failures of the same kind. */
  failure?: string;
  /** Passed to the next iteration, and kept in the journal. */
  memory?: Json;
}
