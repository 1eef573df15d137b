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
  /** For an agent that the recipe asks besides, such as for a commit message. */
  budget?: Budget | undefined;
}

/** What to ask next, and how to judge the answer. The loop owns everything else. */
export interface Recipe {
  readonly name: string;
  /** Whether an answer can fail verification, so that being stuck is possible. */
  readonly verifies: boolean;
  /** The last allowed iteration is what it was told to do, and no failure. */
  readonly endsAtLimit?: true;
  /** What is left to do stands in the list of stories, for whoever goes on. */
  readonly keepsStories?: true;
  /** A `RalphError` ends the run with its message. */
  plan(context: PlanContext): Promise<Plan>;
  /**
   * Runs after every agent, also after one that failed. Expected failures are verdicts, not errors;
   * undefined: it was stopped before it could tell.
   */
  verify(answer: Answer, context: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined>;
  /** Runs the checks before the first iteration; left out where nobody wants that, or there are none. */
  baseline?(context: VerifyContext): AsyncGenerator<LoopEventBody, CheckFinished[] | undefined>;
  /** Asked by the agent's stop hook while the agent works: why it may not stop yet, or undefined. */
  mayStop?(): Promise<string | undefined>;
  /** From now on the files are the user's, until the next iteration begins: as in a pause or a long wait. */
  release?(): Promise<void>;
  /** Called when the run ends, however it ends; more than once does no harm. */
  close?(): void | Promise<void>;
}

export interface PlanContext {
  iteration: number;
  maxIterations: number;
  /** What the last verdict carried over. */
  memory: Json | undefined;
  /** The agent has answered before a crash: its work is in the files, and only verified now. */
  answered: boolean;
  /** The checks before the first iteration, where they were run then. */
  baseline?: BaselineCheck[] | undefined;
}

interface Plan {
  /** null: nobody is asked this time, what is there is only verified. */
  prompt: string | null;
  /** Shown with the iteration, for recipes that have several kinds of them. */
  mode?: string;
  /** Tells from the agent's own last words that it can be ended at once. */
  isDone?: (said: string) => boolean;
  /** Told after an empty answer: whether the work is there all the same, so that nobody is asked again. */
  hasWorked?: () => boolean;
  /** What the iteration should be about, such as the id of a story. */
  about?: string | undefined;
  /** Files that a person changed since the run was stopped or paused: they count as they are. */
  changed?: string[];
  /** How often it was tried before, for recipes that try a part again. */
  retries?: IterationStarted["retries"];
  /** The checks that it is about; all of them unless it is given. */
  checks?: string[];
  /** Who is asked, if not the agent of the run: its role among the other agents of the run. */
  agent?: string | undefined;
}

export interface Answer extends Pick<AgentFinished, "costUsd" | "durationMs" | "steps"> {
  /** The agent's own final words; empty when the agent failed, because those prove nothing. */
  finalMessage: string;
  /** Why the agent failed, or null. */
  error: string | null;
  /** What it asks a human. */
  asked?: Question | undefined;
}

export interface Verdict {
  passed: boolean;
  /** A word for people and programs: why the iteration passed or not. */
  reason: string;
  /** Whether the agent said that it was done, right or wrong. */
  claimedDone: boolean;
  /** Set when the run is over: `completed`, or another reason that the recipe alone can know. */
  stop?: StopReason;
  /** The same word for failures of the same kind. */
  failure?: string;
  /** Carried into the next iteration, and kept in the journal. */
  memory?: Json;
}
