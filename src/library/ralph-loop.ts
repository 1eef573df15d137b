import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { FunctionAgent } from "../ask/run-function.js";
import { formatDuration } from "../duration.js";
import { RalphError } from "../errors.js";
import type { Limits, LoopEvent, Outcome, StopReason } from "../events.js";
import { readTextFile } from "../recipes/prompt.js";
import { checksSpec } from "../recipes/task/flags.js";
import { PROGRESS_FILE } from "../recipes/task/loop-style.js";
import type { CheckReport, IterationReport } from "../records/iteration.js";
import { iterationsOf } from "../records/report.js";
import { initialState } from "../records/run-state.js";
import { unlessDefault } from "../run/agent-spec.js";
import { prepareRun } from "../run/prepare.js";
import { recordedRun } from "../run/recorded.js";
import { type RunRequest, requestFrom } from "../run/spec.js";
import { loopLimits } from "../settings/limits.js";
import { loadSettings, loopSection } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { removeWorktree } from "../workspace/worktree/worktree.js";
import { checkSpec, type LoopSpec } from "./loop-spec.js";

/**
 * Runs a loop and yields its events; returns how it ended. A caller that stops listening stops the loop, with the
 * agent at work. Throws a `RalphError` for what cannot be started; what goes wrong later is an event and an
 * outcome. Prints nothing, and takes no signal of the process: `spec.signal` is for that.
 */
export async function* runLoop(spec: LoopSpec): AsyncGenerator<LoopEvent, Outcome> {
  checkSpec(spec);
  // One of its own: a signal that is shared by many loops would gather their listeners, and Node warn of it.
  const signal = AbortSignal.any(spec.signal === undefined ? [] : [spec.signal]);
  const home = spec.home === undefined ? undefined : resolve(spec.home);
  const origin = resolve(spec.workspaceRoot ?? process.cwd());
  if (spec.specFile != null) readTextFile("spec file", spec.specFile, origin);
  const loaded = await loadSettings(origin, undefined, home);
  const prepared = await prepareRun(requestOf(spec, origin, loaded.settings), loaded, { home, signal });
  if ("resume" in prepared) {
    const { id } = prepared.resume;
    throw new RalphError(`the worktree belongs to run ${id}, which is not done`, {
      code: "worktree_taken",
      hint: `continue it with ralph resume ${id}, or choose another name`,
    });
  }
  const { agent } = spec;
  const asked = typeof agent === "function" ? { ...prepared, agent, variables: {} } : prepared;
  return yield* recordedRun(asked, { home, signals: { stop: signal, kill: signal } });
}

/** The same as the flags of `ralph loop` make. */
function requestOf(spec: LoopSpec, origin: string, settings: Settings): RunRequest {
  const { task, specFile, checks, checkTimeout, completionTag: tag, agent, model, keepBackground } = spec;
  const section = loopSection(settings);
  const completionTag = tag ?? (tag === null ? false : undefined);
  const recipe = checksSpec(
    task,
    {
      // A program names all of its checks.
      ...{ check: [...checks], projectChecks: false, spec: specFile ?? undefined, completionTag },
      ...(checkTimeout !== undefined && { checkTimeout: String(checkTimeout) }),
    },
    settings,
    origin,
  );
  const request = requestFrom(
    { model: model ?? undefined, worktree: spec.useWorktree, keepBackground },
    {
      origin,
      recipe,
      limits: limitsFor(spec, settings),
      stream: settings.streamAgentOutput,
      agent: typeof agent === "function" ? undefined : unlessDefault(agent ?? section.agent, settings),
      title: task ?? checks.join(" "),
    },
  );
  if (typeof agent !== "function") return request;
  const name = agent.name || "function";
  return { ...request, agent: { name, isFunction: true, words: [], flags: [], permissions: "unattended" } };
}

function limitsFor({ maxIterations, maxCost, maxTime, limits = {} }: LoopSpec, settings: Settings): Limits {
  const maxTimeMs = maxTime == null ? maxTime : Math.round(maxTime * 1000);
  const given = Object.entries({ ...limits, maxIterations, maxCostUsd: maxCost, maxTimeMs });
  return {
    ...loopLimits(settings, loopSection(settings)),
    ...Object.fromEntries(given.filter(([, value]) => value !== undefined)),
  };
}

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
    const outcome = step.value;
    this.#worktree = outcome.worktree ?? undefined;
    const iterations = iterationsOf(initialState(""), events).filter(({ finished }) => finished);
    return {
      iterations: iterations.map(iterationOf),
      totalIterations: outcome.iterations,
      totalCost: outcome.costUsd ?? 0,
      totalDuration: outcome.durationMs / 1000,
      success: outcome.success,
      stopReason: outcome.reason,
      worktreePath: outcome.worktree ?? "",
    };
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

/** How a check ended in an iteration. */
export interface CheckOutcome {
  /** The command. */
  name: string;
  passed: boolean;
  /** The end of what it printed; a last line says so where it timed out or was killed. */
  output: string;
  /** null where it was ended by a signal, or did not start. */
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
}

/** An iteration that was verified. */
export interface LoopIteration {
  /** From 1 on. */
  iteration: number;
  stepsTaken: number;
  /** In USD; 0 where the agent does not tell. */
  cost: number;
  /** In seconds, with the checks. */
  duration: number;
  checkResults: CheckOutcome[];
  allChecksPassed: boolean;
  /** Whether the agent said that it was done; false where no tag is asked for. */
  completionTagFound: boolean;
  /** Why the agent failed, or null. */
  error: string | null;
}

/** The result of a loop. */
export interface RalphLoopResult {
  iterations: LoopIteration[];
  totalIterations: number;
  /** In USD. */
  totalCost: number;
  /** In seconds. */
  totalDuration: number;
  success: boolean;
  /** `all_checks_passed`, or why it stopped without. */
  stopReason: StopReason;
  /** Empty without a worktree. */
  worktreePath: string;
}

function iterationOf(report: IterationReport): LoopIteration {
  const { iteration, checks, error } = report;
  return {
    iteration,
    stepsTaken: report.tools,
    cost: report.costUsd ?? 0,
    duration: report.durationMs / 1000,
    checkResults: checks.map(outcomeOf),
    allChecksPassed: checks.length > 0 && checks.every(({ passed }) => passed),
    completionTagFound: report.claimedDone,
    error,
  };
}

function outcomeOf(report: CheckReport): CheckOutcome {
  const { command, passed, output, exitCode, signal, timedOut, durationMs } = report;
  const cut = timedOut ? `Timeout: ended after ${formatDuration(durationMs)}` : signal && `Killed: ${signal}`;
  const said = cut ? `${output.trimEnd()}\n${cut}`.trimStart() : output;
  return { name: command, passed, output: said, exitCode, signal, timedOut };
}
