import type { AgentFinished, LoopEventBody } from "../events.js";
import type { AgentRequest, AgentRun } from "../loop/effects.js";
import { supervise } from "./supervise.js";

/** What a function that plays the agent answers. */
export interface FunctionAnswer {
  /** Its final message. */
  finalOutput: string;
  /** In USD. */
  cost?: number;
  steps?: number;
}

/** An agent that is a function. What it throws is a failed iteration. */
export type FunctionAgent = (
  prompt: string,
  context: { iteration: number; workspace: string; signal: AbortSignal },
) => Promise<FunctionAnswer> | FunctionAnswer;

export interface FunctionSetup {
  agent: FunctionAgent;
  name: string;
  workspace: string;
  iterationTimeoutMs: number | null;
  kill: AbortSignal;
}

/** Asks a function once. It cannot be killed: when its time is over, it is told and no longer waited for. */
export async function* runFunction(
  setup: FunctionSetup,
  { iteration, attempt, prompt, remaining }: AgentRequest,
): AsyncGenerator<LoopEventBody, AgentRun> {
  yield {
    type: "agent.started",
    iteration,
    agent: setup.name,
    command: [],
    attempt,
    prompt: prompt.slice(0, 200),
  };
  const watch = supervise({
    ...setup,
    remaining,
    inactivityTimeoutMs: 0,
    fingerprint: async () => "",
  });
  const begun = performance.now();
  const ended = new Promise<void>((resolve) =>
    watch.stop.addEventListener("abort", () => resolve(), { once: true }),
  );
  const answer = await Promise.race([call(setup, prompt, iteration, watch.stop), ended]);
  const stopped = watch.reason();
  watch.end();
  const failed = answer === undefined ? watch.explanation() : answer.error;
  const run: AgentRun = {
    finalMessage: answer?.finalOutput ?? "",
    error: failed,
    empty: failed === null && answer?.finalOutput.trim() === "",
    stopped,
    costUsd: answer?.cost ?? null,
    durationMs: Math.round(performance.now() - begun),
    steps: answer?.steps ?? 0,
  };
  yield { type: "agent.finished", iteration, ...NO_PROCESS, ...run };
  return run;
}

const NO_PROCESS: Omit<AgentFinished, "type" | "iteration" | keyof AgentRun> = {
  exitCode: null,
  signal: null,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  log: "",
};

async function call(
  { agent, workspace }: FunctionSetup,
  prompt: string,
  iteration: number,
  signal: AbortSignal,
): Promise<FunctionAnswer & { error: string | null }> {
  try {
    const { finalOutput, ...more } = await agent(prompt, { iteration, workspace, signal });
    return { ...more, finalOutput: String(finalOutput ?? ""), error: null };
  } catch (error) {
    return { finalOutput: "", error: error instanceof Error ? error.message : String(error) };
  }
}
