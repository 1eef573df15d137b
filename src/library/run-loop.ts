import { resolve } from "node:path";
import { DEFAULT_LIMITS, LOOP_DEFAULTS } from "../defaults.js";
import { RalphError } from "../errors.js";
import type { Limits, LoopEvent } from "../events.js";
import { agentEnvironment, unlessDefault } from "../host/agent-spec.js";
import { prepareRun, type Wanted } from "../host/prepare.js";
import { recordedRun } from "../host/recorded.js";
import type { RunSpec } from "../host/spec.js";
import type { Outcome } from "../loop/outcome.js";
import { readTextFile } from "../recipes/text-file.js";
import { loadSettings } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { checkSpec } from "./check-spec.js";
import type { LoopSpec } from "./loop-spec.js";

/**
 * Runs a loop and tells what happens; returns how it ended. Whoever stops listening stops the loop, with the
 * agent at work. Throws a `RalphError` for what cannot be started; what goes wrong later is an event and an
 * outcome. Prints nothing, and takes no signal of the process: `spec.signal` is for that.
 */
export async function* runLoop(spec: LoopSpec): AsyncGenerator<LoopEvent, Outcome> {
  checkSpec(spec);
  const { agent } = spec;
  // One of its own: a signal that is shared by many loops would gather their listeners, and Node warn of it.
  const signal = AbortSignal.any(spec.signal === undefined ? [] : [spec.signal]);
  const wanted = await wantedBy(spec);
  const prepared = await prepareRun({ ...wanted, signal });
  if ("resume" in prepared) throw unfinished(prepared.resume.id);
  return yield* recordedRun(prepared.spec, {
    home: wanted.home,
    signals: { stop: signal, kill: signal },
    ...(typeof agent === "function"
      ? { agent, agentEnv: {} }
      : { agentEnv: agentEnvironment(prepared.spec.agent, wanted.loaded.settings) }),
  });
}

async function wantedBy(spec: LoopSpec): Promise<Wanted> {
  const origin = resolve(spec.workspaceRoot ?? process.cwd());
  if (spec.specFile != null) readTextFile("spec file", spec.specFile, origin);
  const loaded = await loadSettings(origin);
  return {
    origin,
    loaded,
    recipe: recipeFor(spec, origin),
    limits: limitsOf(spec),
    stream: true,
    agent: agentFor(spec, loaded.settings),
    worktree: spec.useWorktree ?? false,
    title: spec.task || spec.checks.join(" "),
    home: spec.home === undefined ? undefined : resolve(spec.home),
  };
}

function recipeFor(
  {
    task = "",
    specFile,
    checks,
    checkTimeout = LOOP_DEFAULTS.checkTimeoutMs / 1000,
    completionTag = LOOP_DEFAULTS.completionTag,
  }: LoopSpec,
  origin: string,
): RunSpec["recipe"] {
  return {
    kind: "checks",
    task,
    ...(specFile != null && { specFile: resolve(origin, specFile) }),
    checks: [...checks],
    checkTimeoutMs: checkTimeout * 1000,
    completionTag: completionTag?.trim() ?? null,
  };
}

function limitsOf({ maxIterations, maxCost = null, maxTime = null, limits = {} }: LoopSpec): Limits {
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return {
    ...DEFAULT_LIMITS,
    ...Object.fromEntries(given),
    maxIterations: maxIterations ?? LOOP_DEFAULTS.maxIterations,
    maxCostUsd: maxCost,
    maxTimeMs: maxTime === null ? null : maxTime * 1000,
  };
}

function agentFor({ agent, model }: LoopSpec, settings: Settings): Wanted["agent"] {
  if (typeof agent === "function") {
    const name = agent.name || "function";
    return { name, isFunction: true, words: [], flags: [], permissions: "unattended" };
  }
  return { agent: unlessDefault(agent, settings), model: model ?? undefined, agentFlags: [] };
}

function unfinished(run: string): RalphError {
  return new RalphError(`the worktree belongs to run ${run}, which is not done`, {
    code: "worktree_taken",
    hint: `continue it with ralph resume ${run}, or choose another name`,
  });
}
