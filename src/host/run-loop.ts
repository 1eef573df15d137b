import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { agentFor } from "../agents/index.js";
import { type AgentSetup, runAgent } from "../ask/run-agent.js";
import type { LoopEvent } from "../events.js";
import type { Effects, Signals } from "../loop/effects.js";
import { loop } from "../loop/loop.js";
import type { Outcome } from "../loop/outcome.js";
import { capture } from "../process/capture.js";
import { promptRecipe } from "../recipes/prompt/prompt.js";
import type { Redact } from "../state/redact.js";
import type { RunState } from "../state/run-state.js";
import { iterationFolder, type RunFolder } from "../state/runs.js";
import { changedFiles } from "../workspace/changes.js";
import { fingerprint } from "../workspace/fingerprint.js";
import { repositoryRoot } from "../workspace/git.js";
import { COMMIT_PROMPT } from "../workspace/scm.js";
import { systemClock } from "./clock.js";
import type { RunSpec } from "./spec.js";

export interface RunContext {
  folder: RunFolder;
  signals: Signals;
  redact: Redact;
  /** Environment of the agent and of the checks. */
  env: NodeJS.ProcessEnv;
  /** Variables for the agent alone. */
  agentEnv: Record<string, string>;
}

/** The loop of a spec, with the real world as its effects. */
export async function* runLoop(
  spec: RunSpec,
  state: RunState,
  context: RunContext,
): AsyncGenerator<LoopEvent, Outcome> {
  const { workspace, limits } = spec;
  const setup = await agentSetup(spec, context);
  const recipe = promptRecipe(spec.recipe, {
    ...context,
    workspace,
    askForCommitMessage: (iteration) => askForCommitMessage(setup, iteration),
  });
  const effects: Effects = {
    runAgent: (request) => runAgent(setup, request),
    clock: systemClock,
    fingerprint: () => fingerprint(workspace, "content"),
    changedFiles: () => changedFiles(workspace, spec.base, new Date(spec.createdAt)),
    isPaused: () => existsSync(context.folder.pause),
    signals: context.signals,
  };
  const credentials = setup.agent.credentials.find((name) => setup.env[name]) ?? null;
  return yield* loop(recipe, effects, { limits, agent: spec.agent.name, credentials, workspace }, state);
}

const PROBE_MS = 15_000;

async function agentSetup(spec: RunSpec, context: RunContext): Promise<AgentSetup> {
  const { workspace, limits } = spec;
  const file = spec.agent.words[0] ?? "";
  const agent = await agentFor(file);
  const env = { ...context.env, ...context.agentEnv };
  const probe =
    agent.probe &&
    (await capture(
      { file, args: agent.probe, cwd: workspace, env },
      { timeoutMs: PROBE_MS, stop: context.signals.stop },
    ));
  return {
    agent,
    ...spec.agent,
    model: spec.agent.model,
    help: probe === undefined ? "" : probe.stdout + probe.stderr,
    mode: spec.stream ? "stream" : "text",
    workspace,
    inRepository: repositoryRoot(workspace) !== undefined,
    env,
    redact: context.redact,
    inactivityTimeoutMs: limits.inactivityTimeoutMs,
    iterationTimeoutMs: limits.iterationTimeoutMs,
    fingerprint: () => fingerprint(workspace, "time"),
    kill: context.signals.kill,
    folderFor: (iteration) => iterationFolder(context.folder, iteration),
  };
}

const COMMIT_MESSAGE_MS = 5 * 60_000;

async function askForCommitMessage(setup: AgentSetup, iteration: number): Promise<string> {
  const folderFor = (number: number): string => {
    const folder = join(setup.folderFor(number), "commit-message");
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  const asked = runAgent(
    { ...setup, mode: "text", folderFor },
    {
      iteration,
      attempt: 1,
      prompt: COMMIT_PROMPT,
      remaining: { costUsd: undefined, tokens: undefined, timeMs: COMMIT_MESSAGE_MS },
    },
  );
  let step = await asked.next();
  while (!step.done) step = await asked.next();
  return step.value.error === null ? step.value.finalMessage : "";
}
