import { resolve } from "node:path";
import { parseDuration } from "../duration.js";
import { RalphError } from "../errors.js";
import type { Limits, LoopEvent, Outcome } from "../events.js";
import { readTextFile } from "../recipes/text-file.js";
import { agentEnvironment, otherEnvironments, unlessDefault } from "../run/agent-spec.js";
import { netAgents, netsFor } from "../run/net-agents.js";
import { prepareRun, type Wanted } from "../run/prepare.js";
import { recordedRun } from "../run/recorded.js";
import type { RunSpec } from "../run/spec.js";
import { DEFAULT_LIMITS, LOOP_DEFAULTS } from "../settings/limits.js";
import { loadSettings, loopSection } from "../settings/load.js";
import type { LoopSettings, Settings } from "../settings/schema.js";
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
      : {
          agentEnv: agentEnvironment(prepared.spec.agent, wanted.loaded.settings),
          otherEnv: otherEnvironments(prepared.spec.agents, wanted.loaded.settings),
        }),
  });
}

async function wantedBy(spec: LoopSpec): Promise<Wanted> {
  const origin = resolve(spec.workspaceRoot ?? process.cwd());
  if (spec.specFile != null) readTextFile("spec file", spec.specFile, origin);
  const loaded = await loadSettings(origin);
  const section = loopSection(loaded.settings);
  const agent = chosenAgent(spec, section, loaded.settings);
  return {
    origin,
    loaded,
    recipe: recipeFor(spec, section, origin),
    limits: limitsOf(spec, section),
    stream: loaded.settings.streamAgentOutput,
    agent,
    agents: othersFor(spec, agent, loaded.settings),
    worktree: spec.useWorktree ?? false,
    keepBackground: spec.keepBackground,
    title: spec.task ?? spec.checks.join(" "),
    home: spec.home === undefined ? undefined : resolve(spec.home),
  };
}

function recipeFor(spec: LoopSpec, section: LoopSettings, origin: string): RunSpec["recipe"] {
  const { task = "", specFile, checks, checkTimeout = LOOP_DEFAULTS.checkTimeoutMs / 1000 } = spec;
  const tag = firstDefined(spec.completionTag, section.completion_tag, LOOP_DEFAULTS.completionTag);
  return {
    kind: "checks",
    task,
    ...(specFile != null && { specFile: resolve(origin, specFile) }),
    checks: [...checks],
    checkTimeoutMs: checkTimeout * 1000,
    completionTag: tag?.trim() ?? null,
  };
}

function limitsOf({ maxIterations, maxCost, maxTime, limits = {} }: LoopSpec, section: LoopSettings): Limits {
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  const time = firstDefined(maxTime, section.max_time, null);
  return {
    ...DEFAULT_LIMITS,
    ...Object.fromEntries(given),
    maxIterations: maxIterations ?? section.max_iterations ?? LOOP_DEFAULTS.maxIterations,
    maxCostUsd: firstDefined(maxCost, section.max_cost, null),
    maxTimeMs: time === null ? null : (parseDuration(time) ?? null),
  };
}

/** null is an answer: there is none. */
function firstDefined<T>(...values: (T | undefined)[]): T {
  return values.find((value) => value !== undefined) as T;
}

function chosenAgent({ agent, model }: LoopSpec, section: LoopSettings, settings: Settings): Wanted["agent"] {
  if (typeof agent === "function") {
    const name = agent.name || "function";
    return { name, isFunction: true, words: [], flags: [], permissions: "unattended" };
  }
  const chosen = unlessDefault(agent ?? section.agent, settings);
  return { agent: chosen, model: model ?? undefined, agentFlags: [] };
}

/** A function has nobody in its place. */
function othersFor({ agent: given }: LoopSpec, own: Wanted["agent"], settings: Settings): Wanted["agents"] {
  if (typeof given === "function" || "words" in own) return {};
  return netAgents(netsFor({ agent: given }, settings), own);
}

function unfinished(run: string): RalphError {
  return new RalphError(`the worktree belongs to run ${run}, which is not done`, {
    code: "worktree_taken",
    hint: `continue it with ralph resume ${run}, or choose another name`,
  });
}
