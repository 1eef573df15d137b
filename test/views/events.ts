import type {
  AgentFinished,
  CheckFinished,
  LoopEvent,
  LoopEventBody,
  RunFinished,
} from "../../src/events.js";
import { advance, initialState, type RunState } from "../../src/records/run-state.js";
import { LIMITS } from "../kit.js";

/** Events of a run for the tests of views, and what a view is handed with each of them. */

export const STARTED = {
  type: "run.started",
  recipe: "prompt",
  agent: "claude",
  credentials: null,
  workspace: "/home/dev/project",
  limits: LIMITS,
} as const;

export function agentStarted(fields: object = {}): LoopEventBody {
  const command = ["/usr/bin/my-agent", "-p"];
  const prompt = "Do it.\nNow.";
  return { type: "agent.started", iteration: 1, agent: "claude", command, attempt: 1, prompt, ...fields };
}

export function agentFinished(fields: Partial<AgentFinished> = {}): LoopEventBody {
  return {
    ...{ type: "agent.finished", iteration: 1, exitCode: 0, signal: null, durationMs: 4200, costUsd: 0.05 },
    ...{ inputTokens: 2000, outputTokens: 100, cacheReadTokens: 400, cacheWriteTokens: 0, steps: 0 },
    ...{ error: null, empty: false, stopped: null, finalMessage: "", log: "agent.ndjson" },
    ...fields,
  };
}

export function checked(fields: Partial<CheckFinished> = {}): LoopEventBody[] {
  const { iteration = 1, command = "make test" } = fields;
  return [
    { type: "check.started", iteration, command },
    {
      ...{ type: "check.finished", iteration, command, exitCode: 0, signal: null, timedOut: false },
      ...{ passed: true, durationMs: 1200, log: ".ralph/guardrail_001_make_test.log", output: "" },
      ...fields,
    },
  ];
}

export function iterationFinished(reason: string, iteration = 1): LoopEventBody {
  const spent = { costUsd: 0.05, inputTokens: 0, outputTokens: 0 };
  const totals = { ...spent, activeMs: 0, consecutiveFailures: 0, alike: 0 };
  const passed = { passed: false, claimedDone: false };
  return { type: "iteration.finished", iteration, reason, durationMs: 6000, ...passed, totals };
}

export function runFinished(fields: Partial<RunFinished> = {}): LoopEvent & RunFinished {
  return {
    ...{ v: 1, ts: "2026-11-15T08:00:00.000Z", run: "r1", type: "run.finished", success: false },
    ...{ reason: "max_iterations", exitCode: 1, iterations: 3, costUsd: 1.25, inputTokens: 1_200_000 },
    ...{ outputTokens: 45_000, durationMs: 367_000, filesChanged: 2, worktree: null },
    ...fields,
  };
}

/** What a view makes of each event and of the state after it. */
export function folded<Shown>(
  events: LoopEventBody[],
  view: (event: LoopEvent, state: RunState) => Shown,
): Shown[] {
  const state = initialState("r1");
  return events.map((body) => {
    const event: LoopEvent = { v: 1, ts: "2026-11-15T08:00:00.000Z", run: "r1", ...body };
    return view(event, advance(state, event));
  });
}
