import type { CheckEnd, CheckStart } from "./check-parts.js";
import type {
  AgentEvent,
  AgentStop,
  BaselineCheck,
  CallSpending,
  Envelope,
  FileChange,
  GateVerdict,
  Json,
  LandingEvents,
  LaneEvents,
  LanesEnd,
  LimitedAgent,
  Limits,
  Question,
  Totals,
  UsageLimit,
} from "./event-parts.js";
import type { StopReason } from "./stop-reasons.js";

export type * from "./event-parts.js";
export type { StopReason };

/** What ralph did. The journal, `--json` and every view carry the same events. */
export type LoopEvent = Envelope & LoopEventBody;

export type LoopEventBody =
  | { [Type in keyof RunEvents]: { type: Type } & RunEvents[Type] }[keyof RunEvents]
  | {
      [Type in keyof IterationEvents]: {
        type: Type;
        /** 0: before the first one, for the baseline. */
        iteration: number;
      } & IterationEvents[Type];
    }[keyof IterationEvents];

type EventOf<Type extends LoopEventBody["type"]> = Extract<LoopEventBody, { type: Type }>;

/** By their types: the events of a run as a whole. */
interface RunEvents extends LandingEvents, LaneEvents {
  "run.started": {
    /** What people call the run, beside its id. */
    name?: string;
    recipe: string;
    agent: string;
    /** The variable that holds the agent's key, if one is set: it decides who is billed. */
    credentials: string | null;
    workspace: string;
    limits: Limits;
    /** Leave alone what agents and checks leave running. */
    background?: "keep";
    /** How many loops may work at the same time, where that is more than one. */
    parallel?: number;
  };
  /** The loop goes on after a pause, or in a new process (`limits` are set then). */
  "run.resumed": {
    iterations: number;
    /** Time at work so far. */
    activeMs: number;
    agent: string;
    limits?: Limits;
    /** Where the checks stand, if there is a baseline. */
    baseline?: BaselineCheck[];
  };
  "run.paused": {
    iterations: number;
    /** Time at work so far. */
    activeMs: number;
  };
  /** The checks as they were before the first iteration. */
  "baseline.finished": {
    checks: BaselineCheck[];
  };
  /** A worker of the fleet has lost the run to another one. */
  "lease.lost": {
    /** Who has lost it. */
    worker: string;
    /** The how manieth claim of the run that was. */
    epoch: number;
    why: string;
  };
  "run.finished": LanesEnd & {
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
    /** The file that says what was verified, for `ralph verify`. */
    receipt?: string;
    /** Why there is none, though the run succeeded. */
    unproven?: string;
    /** What the agent wants to know, when it is `blocked`: `ralph answer`. */
    question?: Question;
    /** A limit that is reached as well, and has to be raised to go on. */
    limit?: StopReason;
    /** Nothing can go on with it: `ralph resume` would end in the same way. */
    final?: true;
    /** Where the checks stand, if there is a baseline. */
    baseline?: BaselineCheck[];
  };
}

/** The same of one iteration. */
interface IterationEvents {
  "iteration.started": {
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
  };
  "agent.started": {
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
  };
  "agent.event": {
    event: AgentEvent;
  };
  "agent.finished": CallSpending & {
    exitCode: number | null;
    signal: string | null;
    durationMs: number;
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
  };
  "check.started": CheckStart;
  "check.finished": CheckEnd;
  /** The agent has worded a commit message: what that took is written down before anything is committed. */
  "scm.asked": {
    spent: CallSpending;
  };
  "scm.finished": {
    task: string;
    passed: boolean;
    exitCode: number | null;
    durationMs: number;
    /** The commit message, what was skipped, or what went wrong. */
    message: string;
  };
  /** A gate of a pipeline has judged. */
  "gate.finished": GateVerdict;
  /** Something moved on: a story, or a pipeline to its next state, COMPLETE or GUTTER. */
  "state.changed": {
    from: string;
    to: string;
    story?: string;
    title?: string;
    /** Reviews of the story so far. */
    reviews?: number;
    /** Reviews that it may have. */
    reviewCap?: number;
    /** It was approved because the review cap was reached. */
    atCap?: boolean;
    /** What a review wants changed. */
    feedback?: string;
    /** Files that were written for people, as in the gutter. */
    saved?: string[];
  };
  /** The agent did what it may not do. What can be put back was put back. */
  violation: {
    what: string;
    story?: string;
    file?: string;
  };
  /** Locks of git that a call left behind, that nobody holds any more, and that would make every commit fail. */
  "locks.removed": {
    files: string[];
  };
  "backoff.started": {
    seconds: number;
    attempt: number;
    maxAttempts: number;
  };
  /** A usage limit is reached: nothing is asked until then, and then the same iteration goes on. */
  "limit.waiting": Omit<LimitedAgent, "kind"> & {
    agent: string;
    /** Time at work so far: it stands still. */
    activeMs: number;
  };
  "iteration.finished": {
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
  };
}

export type RunStarted = EventOf<"run.started">;
export type RunFinished = EventOf<"run.finished">;
export type LeaseLost = EventOf<"lease.lost">;
export type IterationStarted = EventOf<"iteration.started">;
export type IterationFinished = EventOf<"iteration.finished">;
export type AgentStarted = EventOf<"agent.started">;
export type AgentFinished = EventOf<"agent.finished">;
export type CheckFinished = EventOf<"check.finished">;
export type ScmFinished = EventOf<"scm.finished">;
export type StateChanged = EventOf<"state.changed">;
export type Violation = EventOf<"violation">;

/** How a run ended. */
export type Outcome = Omit<RunFinished, "type">;
