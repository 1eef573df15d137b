import { resolve } from "node:path";
import type { FunctionAgent } from "../ask/run-function.js";
import { RalphError } from "../errors.js";
import type { Limits, LoopEvent } from "../events.js";
import { agentEnvironment } from "../host/agent-spec.js";
import { prepareRun, type Wanted } from "../host/prepare.js";
import { recordedRun } from "../host/recorded.js";
import type { RunSpec } from "../host/spec.js";
import type { Outcome } from "../loop/outcome.js";
import { readTextFile } from "../recipes/text-file.js";
import { loadSettings } from "../settings/load.js";

/** What a loop is asked to do: the settings of `ralph loop`, in the words of a program. */
export interface LoopSpec {
  /** What to do. A spec file takes its place. */
  task: string;
  /** Shell commands that must all exit 0. */
  checks: string[];
  /** Read anew for each iteration. */
  specFile?: string | null;
  /** What the agent says when it is done; null: the checks alone decide. Default: `COMPLETE`. */
  completionTag?: string | null;
  /** 1 to 100. Default: 25. */
  maxIterations?: number;
  /** In USD. */
  maxCost?: number | null;
  /** In seconds. */
  maxTime?: number | null;
  /** In seconds, for each check. Default: 120. */
  checkTimeout?: number;
  /** A known agent, a profile in the settings, any command, or a function of yours. */
  agent?: string | FunctionAgent;
  model?: string | null;
  /** Work in a git worktree of its own; a string names it. */
  useWorktree?: boolean | string;
  /** The project. Default: the current folder. */
  workspaceRoot?: string;
  /** The other limits, as the events tell them. */
  limits?: Partial<Limits>;
  /** Ends the run, with the agent at work. */
  signal?: AbortSignal;
  /** Where records are kept. Default: `$RALPH_HOME`, else `~/.ralph`. */
  home?: string;
}

/**
 * Runs a loop and tells what happens; returns how it ended. Whoever stops listening stops the loop.
 * Throws a `RalphError` for what cannot be started; what goes wrong later is an event and an outcome.
 */
export async function* runLoop(spec: LoopSpec): AsyncGenerator<LoopEvent, Outcome> {
  const never = new AbortController().signal;
  const { signal = never, home, agent } = spec;
  const wanted = await wantedBy(spec);
  const prepared = await prepareRun({ ...wanted, signal });
  if ("resume" in prepared) throw unfinished(prepared.resume.id);
  return yield* recordedRun(prepared.spec, {
    home,
    signals: { stop: signal, kill: signal },
    ...(typeof agent === "function"
      ? { agent, agentEnv: {} }
      : { agentEnv: agentEnvironment(prepared.spec.agent, wanted.loaded.settings) }),
  });
}

const NO_LIMITS: Limits = {
  maxIterations: 25,
  maxCostUsd: null,
  maxTokens: null,
  maxTimeMs: null,
  iterationTimeoutMs: null,
  inactivityTimeoutMs: 900_000,
  maxFailures: 5,
  stuckAfter: 3,
};

async function wantedBy(spec: LoopSpec): Promise<Wanted> {
  const origin = resolve(spec.workspaceRoot ?? process.cwd());
  const { task, checks, maxTime, agent, model } = spec;
  refuse(spec, origin);
  return {
    origin,
    loaded: await loadSettings(origin),
    recipe: recipeFor(spec, origin),
    limits: {
      ...NO_LIMITS,
      ...spec.limits,
      maxIterations: spec.maxIterations ?? NO_LIMITS.maxIterations,
      maxCostUsd: spec.maxCost ?? null,
      maxTimeMs: maxTime == null ? null : maxTime * 1000,
    },
    stream: true,
    agent:
      typeof agent === "function"
        ? { name: agent.name || "function", words: [], flags: [], permissions: "unattended" }
        : { agent, model: model ?? undefined, agentFlags: [] },
    worktree: spec.useWorktree ?? false,
    title: task || checks.join(" "),
    home: spec.home,
  };
}

function recipeFor(
  { task, specFile, checks, checkTimeout = 120, completionTag = "COMPLETE" }: LoopSpec,
  origin: string,
): RunSpec["recipe"] {
  return {
    kind: "checks",
    task,
    ...(specFile != null && { specFile: resolve(origin, specFile) }),
    checks,
    checkTimeoutMs: checkTimeout * 1000,
    completionTag,
  };
}

const MOST_ITERATIONS = 100;

function refuse({ task, specFile, checks, maxIterations = 1 }: LoopSpec, origin: string): void {
  if (specFile != null) readTextFile("spec file", specFile, origin);
  else if (typeof task !== "string" || task.trim() === "") throw wrong("task: expected something to do");
  if (!Array.isArray(checks) || checks.length === 0) throw wrong("checks: expected at least one command");
  if (!Number.isInteger(maxIterations) || maxIterations < 1 || maxIterations > MOST_ITERATIONS) {
    throw wrong(`maxIterations ${maxIterations}: expected a whole number from 1 to ${MOST_ITERATIONS}`);
  }
}

function wrong(message: string): RalphError {
  return new RalphError(message, { code: "config_invalid" });
}

function unfinished(run: string): RalphError {
  return new RalphError(`the worktree belongs to run ${run}, which is not done`, {
    code: "worktree_taken",
    hint: `continue it: ralph resume ${run}`,
  });
}
