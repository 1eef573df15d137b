import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { FunctionAgent } from "../ask/run-function.js";
import type { LoopEvent, StopReason } from "../events.js";
import type { Outcome } from "../loop/outcome.js";
import { PROGRESS_FILE } from "../recipes/checks/progress.js";
import { type IterationReport, iterationsOf } from "../views/report/model.js";
import { removeWorktree } from "../workspace/worktree.js";
import { type LoopSpec, runLoop } from "./run-loop.js";

export interface CheckOutcome {
  /** The command. */
  name: string;
  passed: boolean;
  /** The end of what it printed. */
  output: string;
}

export interface LoopIteration {
  /** From 1 on. */
  iteration: number;
  stepsTaken: number;
  /** In USD; 0 where the agent does not tell. */
  cost: number;
  /** In seconds. */
  duration: number;
  checkResults: CheckOutcome[];
  allChecksPassed: boolean;
  completionTagFound: boolean;
  /** Why the agent failed, or null. */
  error: string | null;
}

export interface RalphLoopResult {
  iterations: LoopIteration[];
  totalIterations: number;
  /** In USD. */
  totalCost: number;
  /** In seconds. */
  totalDuration: number;
  success: boolean;
  stopReason: StopReason;
  /** Empty without a worktree. */
  worktreePath: string;
}

/** A loop as an object: a configuration, `run()`, and what clears up behind it. */
export class RalphLoop {
  readonly #spec: LoopSpec;
  #worktree: string | undefined;

  /** `agent` takes the place of `config.agent`. */
  constructor(config: LoopSpec, agent?: string | FunctionAgent) {
    this.#spec = agent === undefined ? config : { ...config, agent };
  }

  /** Runs until there is a reason to stop. Every call is a run of its own. */
  async run(): Promise<RalphLoopResult> {
    const events: LoopEvent[] = [];
    const loop = runLoop(this.#spec);
    let step = await loop.next();
    for (; !step.done; step = await loop.next()) {
      // What agents say can be gigabytes, and none of it is part of the result.
      if (step.value.type !== "agent.event") events.push(step.value);
    }
    this.#worktree = step.value.worktree ?? undefined;
    return resultOf(step.value, iterationsOf(events));
  }

  /** Removes the worktree and its branch when nothing would be lost by it; false: they hold work. */
  async cleanupWorktree(): Promise<boolean> {
    if (this.#worktree === undefined) return false;
    const removed = await removeWorktree(this.#workspace, this.#worktree);
    if (removed) this.#worktree = undefined;
    return removed;
  }

  /** Removes `.ralph/progress.md`; the records of the run keep theirs. */
  cleanupProgress(): void {
    rmSync(join(this.#worktree ?? this.#workspace, PROGRESS_FILE), { force: true });
  }

  get #workspace(): string {
    return resolve(this.#spec.workspaceRoot ?? process.cwd());
  }
}

function resultOf(outcome: Outcome, iterations: IterationReport[]): RalphLoopResult {
  return {
    iterations: iterations.filter(({ finished }) => finished).map(iterationOf),
    totalIterations: outcome.iterations,
    totalCost: outcome.costUsd ?? 0,
    totalDuration: outcome.durationMs / 1000,
    success: outcome.success,
    stopReason: outcome.reason,
    worktreePath: outcome.worktree ?? "",
  };
}

function iterationOf(report: IterationReport): LoopIteration {
  const { iteration, checks, error } = report;
  return {
    iteration,
    stepsTaken: report.tools,
    cost: report.costUsd ?? 0,
    duration: report.durationMs / 1000,
    checkResults: checks.map(({ command, passed, output }) => ({ name: command, passed, output })),
    allChecksPassed: checks.every(({ passed }) => passed),
    completionTagFound: report.claimedDone,
    error,
  };
}
