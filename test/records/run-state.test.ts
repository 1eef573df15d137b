import { describe, expect, it } from "vitest";
import type { AgentEvent, LoopEvent, LoopEventBody, StopReason } from "../../src/events.js";
import { advance } from "../../src/records/run-state.js";
import {
  agentFinished,
  agentStarted,
  at,
  fold,
  iterationFinished,
  resumed,
  said,
  started,
} from "./samples.js";

it("tells who is asked, and how often in a row it was the stronger model", () => {
  const asked = (role?: string, attempt = 1): LoopEvent =>
    at(1, { ...agentStarted, agent: role ?? "claude", attempt, ...(role && { role }) });
  const roles = [asked(), asked("escalated"), asked("escalated", 2), asked("reviewer"), asked("escalated")];
  const state = fold([at(0, started), ...roles]);
  expect([state.asked, state.role, state.strongerCalls]).toEqual(["escalated", "escalated", 2]);
  expect(advance(state, asked())).toMatchObject({ asked: "claude", role: "agent", strongerCalls: 0 });
});

describe("spending of an agent that a crash cut off", () => {
  const live = (key: string, costUsd: number): AgentEvent => ({
    type: "progress",
    message: "",
    usage: { key, costUsd, inputTokens: 7, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 },
  });

  it("is paid when the run is resumed", () => {
    const state = fold([
      at(0, started),
      at(1, agentFinished()),
      at(2, agentStarted),
      at(3, said(live("a", 0.1))),
      at(4, said(live("a", 0.2))),
      at(5, said(live("b", 0.3))),
      at(9, resumed),
    ]);
    expect(state).toMatchObject({ costUsd: 1, inputTokens: 24, outputTokens: 10, atWork: undefined });
  });

  it("is what its result says, where there is one", () => {
    const result: AgentEvent = {
      type: "result",
      costUsd: 2,
      usage: { inputTokens: 100, outputTokens: 50, cacheReadTokens: 0, cacheWriteTokens: 0 },
    };
    const state = fold([
      at(0, started),
      at(2, agentStarted),
      at(3, said(live("a", 0.25))),
      at(4, said(result)),
      at(9, resumed),
    ]);
    expect(state).toMatchObject({ costUsd: 2, inputTokens: 100, outputTokens: 50 });
  });

  it.each<[string, LoopEventBody[], number | null, object]>([
    [
      "at the dearest price",
      [agentFinished({ costUsd: 1.4 }), agentFinished({ costUsd: 0.7 })],
      9,
      { costUsd: 2.7 },
    ],
    ["as all that it was allowed, where no price is known", [], 9, { costUsd: 9 }],
  ])("is paid %s, where it told no cost", (_, before, allowanceUsd, expected) => {
    const usage = { inputTokens: 4, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const state = fold([
      at(0, started),
      ...before.map((event) => at(1, event)),
      at(2, { ...agentStarted, allowanceUsd }),
      at(3, said({ type: "progress", message: "", usage })),
      at(9, resumed),
    ]);
    expect(state).toMatchObject({ ...expected, costEstimated: true });
  });

  it("is unknown where neither a price nor an allowance is, or where the agent never tells its cost", () => {
    const usage = { inputTokens: 4, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
    for (const [begun, costEstimated] of [
      [agentStarted, false],
      [{ ...agentStarted, allowanceUsd: null }, true],
    ] as const) {
      const told = at(3, said({ type: "progress", message: "", usage }));
      const state = fold([at(0, started), at(2, begun), told, at(9, resumed)]);
      expect(state).toMatchObject({ costUsd: null, costEstimated, inputTokens: 4 });
    }
  });
});

describe("time at work", () => {
  const paused: LoopEventBody = { type: "run.paused", iterations: 1, activeMs: 0 };
  const goesOn: LoopEventBody = { type: "run.resumed", iterations: 1, activeMs: 0, agent: "claude" };
  const check: LoopEventBody = { type: "check.started", iteration: 1, command: "true" };

  it.each<[string, number, LoopEvent[]]>([
    ["counts from event to event", 7000, [at(0, started), at(3, check), at(7, check)]],
    ["leaves a pause out", 5000, [at(0, started), at(3, paused), at(100, goesOn), at(102, check)]],
    [
      "leaves the gap before a resume out",
      5000,
      [at(0, started), at(3, check), at(100, resumed), at(102, check)],
    ],
    [
      "counts what the agent did until the crash",
      12_000,
      [
        at(0, started),
        at(1, agentStarted),
        at(10, said({ type: "text", text: "hi" })),
        at(100, resumed),
        at(102, check),
      ],
    ],
    [
      "is not taken away by a clock that was set back",
      9000,
      [at(0, started), at(5, check), at(-3600, check), at(-3596, check)],
    ],
    [
      "is not added by a clock that was set forward while an agent was at work, nor by a machine that slept",
      10_001,
      [at(0, started), at(0, agentStarted), at(86_400, agentFinished())],
    ],
  ])("%s", (_, activeMs, events) => {
    expect(fold(events).activeMs).toBe(activeMs);
  });

  it("is what a finished iteration says", () => {
    expect(fold([at(0, started), at(99, iterationFinished()), at(100, check)]).activeMs).toBe(6000);
  });
});

describe("a resume", () => {
  it.each<[StopReason, StopReason | undefined]>([
    ["completed", "completed"],
    ["budget_exhausted", undefined],
    ["blocked", undefined],
    ["violation", "violation"],
  ])("after an iteration that ended with %s and a crash has the stop %s", (stop, expected) => {
    const ended = fold([at(0, started), at(2, iterationFinished({ ...(stop && { stop }) }))]);
    const state = fold([at(0, started), at(2, iterationFinished({ ...(stop && { stop }) })), at(9, resumed)]);
    expect([state.stop, state.message, state.iterations]).toEqual([expected, ended.message, 1]);
  });
});
