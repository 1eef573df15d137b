import type { AgentEvent, AgentFinished, LoopEvent, LoopEventBody } from "../../src/events.js";
import { advance, initialState, type RunState } from "../../src/records/run-state.js";
import { LIMITS } from "../kit.js";

export const RUN = "20260126-185500-3f9a";
const BEGUN = Date.parse("2026-01-26T18:55:00.000Z");

/** An event as the loop writes it, some seconds after the run began. */
export function at(seconds: number, body: LoopEventBody): LoopEvent {
  const ts = new Date(BEGUN + seconds * 1000).toISOString();
  return Object.assign({ v: 1 as const, type: body.type, ts, run: RUN }, body) as LoopEvent;
}

export const started: LoopEventBody & { type: "run.started" } = {
  ...{ type: "run.started", recipe: "prompt", agent: "claude", credentials: null, workspace: "/w" },
  limits: LIMITS,
};
export const resumed: LoopEventBody & { type: "run.resumed" } = {
  ...{ type: "run.resumed", iterations: 0, activeMs: 0, agent: "claude", limits: LIMITS },
};
export const agentStarted: LoopEventBody & { type: "agent.started" } = {
  ...{
    type: "agent.started",
    iteration: 1,
    agent: "claude",
    command: ["claude"],
    attempt: 1,
    prompt: "do it",
  },
};
export const said = (event: AgentEvent, iteration = 1): LoopEventBody => ({
  ...{ type: "agent.event", iteration, event },
});
export const agentFinished = (more: Partial<AgentFinished> = {}): LoopEventBody => ({
  ...{ type: "agent.finished", iteration: 1, exitCode: 0, signal: null, durationMs: 1, costUsd: 0.5 },
  ...{ inputTokens: 10, outputTokens: 4, cacheReadTokens: 3, cacheWriteTokens: 2, steps: 1, error: null },
  ...{ empty: false, stopped: null, finalMessage: "done", log: "agent.ndjson", ...more },
});
export const iterationFinished = (
  more: Partial<LoopEventBody & { type: "iteration.finished" }> = {},
): LoopEventBody => ({
  ...{ type: "iteration.finished", iteration: 1, passed: false, reason: "a check failed", durationMs: 3 },
  totals: {
    costUsd: 0.5,
    inputTokens: 10,
    outputTokens: 4,
    activeMs: 5000,
    consecutiveFailures: 0,
    alike: 1,
  },
  ...{ claimedDone: false, failure: "f1", tree: "t1", memory: { feedback: ["ü\n"] }, ...more },
});

export const fold = (events: LoopEvent[]): RunState => events.reduce(advance, initialState(RUN));
export const linesOf = (events: LoopEvent[]): string =>
  events.map((event) => `${JSON.stringify(event)}\n`).join("");

/** A state without what `iteration.finished` does not carry over: it is about the iteration at work alone. */
export function carried(state: RunState) {
  const { iteration: _, retries: __, asked: ___, strongerCalls: ____, finished: _____, ...rest } = state;
  return rest;
}
