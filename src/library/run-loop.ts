import { resolve } from "node:path";
import { RalphError } from "../errors.js";
import type { Limits, LoopEvent, Outcome } from "../events.js";
import { readTextFile } from "../recipes/text-file.js";
import { unlessDefault } from "../run/agent-spec.js";
import type { RunRequest } from "../run/context.js";
import { prepareRun } from "../run/prepare.js";
import { recordedRun } from "../run/recorded.js";
import { DEFAULT_LIMITS, LOOP_DEFAULTS, limitsOfSection } from "../settings/limits.js";
import { loadSettings, loopSection } from "../settings/load.js";
import type { LoopSettings, Settings } from "../settings/schema.js";
import { checkSpec, type LoopSpec } from "./loop-spec.js";

/**
 * Runs a loop and tells what happens; returns how it ended. Whoever stops listening stops the loop, with the
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
  const loaded = await loadSettings(origin);
  const prepared = await prepareRun(requestOf(spec, origin, loaded.settings), loaded, { home, signal });
  if ("resume" in prepared) throw unfinished(prepared.resume.id);
  const { agent } = spec;
  const asked = typeof agent === "function" ? { ...prepared, agent, variables: {} } : prepared;
  return yield* recordedRun(asked, { home, signals: { stop: signal, kill: signal } });
}

function requestOf(spec: LoopSpec, origin: string, settings: Settings): RunRequest {
  const { task = "", specFile, checks, checkTimeout = LOOP_DEFAULTS.checkTimeoutMs / 1000 } = spec;
  const section = loopSection(settings);
  const tag = firstDefined(spec.completionTag, section.completion_tag, LOOP_DEFAULTS.completionTag);
  return {
    origin,
    recipe: {
      kind: "checks",
      task,
      ...(specFile != null && { specFile: resolve(origin, specFile) }),
      checks: [...checks],
      checkTimeoutMs: checkTimeout * 1000,
      completionTag: tag?.trim() ?? null,
    },
    limits: limitsOf(spec, section),
    stream: settings.streamAgentOutput,
    agent: agentOf(spec, section, settings),
    nets: { agent: typeof spec.agent === "string" ? spec.agent : undefined },
    worktree: spec.useWorktree ?? false,
    keepBackground: spec.keepBackground,
    title: spec.task ?? checks.join(" "),
  };
}

function limitsOf({ maxIterations, maxCost, maxTime, limits = {} }: LoopSpec, section: LoopSettings): Limits {
  const maxTimeMs = maxTime == null ? maxTime : Math.round(maxTime * 1000);
  const given = Object.entries({ ...limits, maxIterations, maxCostUsd: maxCost, maxTimeMs });
  return {
    ...DEFAULT_LIMITS,
    maxIterations: LOOP_DEFAULTS.maxIterations,
    ...limitsOfSection(section),
    ...Object.fromEntries(given.filter(([, value]) => value !== undefined)),
  };
}

/** null is an answer: there is none. */
function firstDefined<T>(...values: (T | undefined)[]): T {
  return values.find((value) => value !== undefined) as T;
}

function agentOf({ agent, model }: LoopSpec, section: LoopSettings, settings: Settings): RunRequest["agent"] {
  if (typeof agent === "function") {
    const name = agent.name || "function";
    return { name, isFunction: true, words: [], flags: [], permissions: "unattended" };
  }
  const chosen = unlessDefault(agent ?? section.agent, settings);
  return { agent: chosen, model: model ?? undefined, agentFlags: [] };
}

function unfinished(run: string): RalphError {
  return new RalphError(`the worktree belongs to run ${run}, which is not done`, {
    code: "worktree_taken",
    hint: `continue it with ralph resume ${run}, or choose another name`,
  });
}
