import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { FunctionAgent } from "../ask/run-function.js";
import type { LoopEvent } from "../events.js";
import { PROGRESS_FILE } from "../recipes/task/progress.js";
import { iterationsOf } from "../records/report.js";
import { initialState } from "../records/run-state.js";
import { removeWorktree } from "../workspace/worktree/worktree.js";
import { checkSpec, type LoopSpec } from "./loop-spec.js";
import { type RalphLoopResult, resultOf } from "./result.js";
import { runLoop } from "./run-loop.js";

/** A loop as an object: a configuration, `run()`, and what clears up behind it. */
export class RalphLoop {
  readonly #spec: LoopSpec;
  readonly #origin: string;
  /** Where the last run worked. */
  #workspace: string | undefined;
  #worktree: string | undefined;

  /** `agent` takes the place of `config.agent`. Throws a `RalphError` for a configuration that is wrong. */
  constructor(config: LoopSpec, agent?: string | FunctionAgent) {
    checkSpec(agent === undefined ? config : { ...config, agent });
    this.#origin = resolve(config.workspaceRoot ?? process.cwd());
    this.#spec = { ...config, workspaceRoot: this.#origin, agent: agent ?? config.agent };
  }

  /** Runs until there is a reason to stop. Every call is a run of its own. */
  async run(): Promise<RalphLoopResult> {
    const events: LoopEvent[] = [];
    const loop = runLoop(this.#spec);
    let step = await loop.next();
    for (; !step.done; step = await loop.next()) {
      if (step.value.type === "run.started") this.#workspace = step.value.workspace;
      // What agents say can be gigabytes, and none of it is part of the result.
      if (step.value.type !== "agent.event") events.push(step.value);
    }
    this.#worktree = step.value.worktree ?? undefined;
    return resultOf(step.value, iterationsOf(initialState(""), events));
  }

  /**
   * Removes the worktree of the last run and its branch, if its work is merged into the checkout and nothing
   * else is left in it. false: there is none, or it holds work and stays as it is.
   */
  async cleanupWorktree(): Promise<boolean> {
    if (this.#worktree === undefined) return false;
    const removed = await removeWorktree(this.#origin, this.#worktree);
    if (removed) this.#worktree = undefined;
    return removed;
  }

  /** Removes `.ralph/progress.md` of the last run; the records of the run keep theirs. */
  cleanupProgress(): void {
    rmSync(join(this.#workspace ?? this.#origin, PROGRESS_FILE), { force: true });
  }
}
