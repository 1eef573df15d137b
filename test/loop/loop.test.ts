import { describe, expect, it } from "vitest";
import { RalphError } from "../../src/errors.js";
import type { Limits } from "../../src/events.js";
import type { AgentRun } from "../../src/loop/effects.js";
import type { PlanContext } from "../../src/loop/recipe.js";
import { initialState } from "../../src/records/run-state.js";
import { DONE, FAILED, NOT_YET, play, START, type World } from "./world.js";

const ITERATION = ["iteration.started", "agent.started", "agent.finished", "iteration.finished"];

describe("the loop", () => {
  it("plans, asks, verifies and decides, and tells every step", async () => {
    const { outcome, types } = await play({ verdicts: [NOT_YET, DONE] });
    expect(types).toEqual(["run.started", ...ITERATION, ...ITERATION, "run.finished"]);
    expect(outcome).toEqual({
      ...{ success: true, reason: "completed", exitCode: 0, iterations: 2 },
      ...{ costUsd: 0, inputTokens: 0, outputTokens: 0, durationMs: 0, filesChanged: null, worktree: null },
    });
  });

  it("asks no agent where the recipe needs none, verifies all the same, and keeps what the user said", async () => {
    const { types, requests } = await play({
      plan: async ({ iteration }) => ({ prompt: iteration === 1 ? null : "p" }),
      verdicts: [NOT_YET, DONE],
      steering: "said",
    });
    const withoutAgent = ["iteration.started", "iteration.finished"];
    expect(types).toEqual(["run.started", ...withoutAgent, ...ITERATION, "run.finished"]);
    expect(requests.map(({ iteration, prompt }) => [iteration, prompt])).toEqual([[2, "p\n\nsaid"]]);
  });

  it("carries what a verdict remembers into the next plan", async () => {
    const memories: unknown[] = [];
    const plan = async ({ memory }: PlanContext) => {
      memories.push(memory);
      return { prompt: "p" };
    };
    await play({ plan, verdicts: [{ ...NOT_YET, memory: { a: 1 } }, NOT_YET, DONE] });
    expect(memories).toEqual([undefined, { a: 1 }, undefined]);
  });

  it.each<[string, RalphError, object]>([
    [
      "cannot go on",
      new RalphError("prompt file not found: P.md", { code: "x" }),
      { success: false, exitCode: 1, message: "prompt file not found: P.md" },
    ],
    [
      "can never go on, with what to do instead",
      new RalphError("other stories", { code: "x", hint: "start anew", isFinal: true }),
      { message: "other stories; start anew", final: true },
    ],
  ])("stops with an error of its own when the recipe %s", async (_, error, expected) => {
    const { outcome } = await play({ plan: () => Promise.reject(error) });
    expect(outcome).toMatchObject({ reason: "error", ...expected });
  });

  it("says what an iteration is for and about; an answer from before a crash is told to the plan", async () => {
    const state = initialState("run");
    state.startedAt = "2026-01-01T00:00:00.000Z";
    state.answer = { ...(await firstAnswer()) };
    const answered: boolean[] = [];
    const { requests, events } = await play({
      state,
      verdicts: [NOT_YET, DONE],
      plan: async (context) => {
        answered.push(context.answered);
        return { prompt: "p", mode: "review", about: "US-1", agent: "reviewer" };
      },
    });
    expect(answered).toEqual([true, false]);
    expect(requests).toMatchObject([{ iteration: 2, prompt: "p", agent: "reviewer" }]);
    expect(events.filter(({ type }) => type === "iteration.started")).toMatchObject([
      { iteration: 1, mode: "review", about: "US-1" },
      { iteration: 2, mode: "review", about: "US-1" },
    ]);
  });

  async function firstAnswer(): Promise<AgentRun> {
    const { events } = await play({ limits: { maxIterations: 1 } });
    return events.find((event) => event.type === "agent.finished") as unknown as AgentRun;
  }

  it("goes on with the counters of the state, and says so instead of starting", async () => {
    const answers = [{ costUsd: 1, tokens: 10, takesMs: 100 }];
    const before = await play({ answers, limits: { maxIterations: 2 } });
    const { outcome, types, requests } = await play({
      state: { ...before.state, status: "running" },
      answers,
      verdicts: [DONE],
    });
    expect(types[0]).toBe("run.resumed");
    expect(requests.map(({ iteration }) => iteration)).toEqual([3]);
    expect(outcome).toMatchObject({ iterations: 3, costUsd: 3, inputTokens: 30, durationMs: 300 });
  });
});

describe("limits of the loop", () => {
  const answers = [{ costUsd: 2, tokens: 200, takesMs: 100 }];

  it.each<[string, Partial<Limits>, number]>([
    ["max_iterations", { maxIterations: 2 }, 2],
    ["budget_exhausted", { maxCostUsd: 5 }, 3],
    ["budget_exhausted", { maxTokens: 400 }, 2],
    ["timeout", { maxTimeMs: 350 }, 4],
  ])("stop with %s at %j, and finished work is success", async (reason, limits, iterations) => {
    expect((await play({ limits, answers })).outcome).toMatchObject({ reason, iterations, exitCode: 1 });
    const verdicts = [...Array(iterations - 1).fill(NOT_YET), DONE];
    expect((await play({ limits, answers, verdicts })).outcome).toMatchObject({
      reason: "completed",
      iterations,
    });
  });

  it("tell the agent what is left", async () => {
    const limits = { maxIterations: 2, maxCostUsd: 5, maxTokens: 1000, maxTimeMs: 1000 };
    const { requests } = await play({ limits, answers });
    expect(requests.map(({ remaining }) => remaining)).toEqual([
      { costUsd: 5, tokens: 1000, timeMs: 1000 },
      { costUsd: 3, tokens: 800, timeMs: 900 },
    ]);
  });

  it("keep the first reason: an agent cut off for its cost in the last iteration", async () => {
    const { outcome } = await play({
      limits: { maxIterations: 1, maxFailures: 1 },
      answers: [{ error: "the cost limit was passed", stopped: "budget_exhausted" }],
    });
    expect(outcome.reason).toBe("budget_exhausted");
  });

  it("end a wait after a failure when the time is up", async () => {
    const limits = { maxTimeMs: 2500, maxFailures: 9 };
    const { outcome } = await play({ limits, answers: [{ error: "x" }] });
    expect(outcome).toMatchObject({ reason: "timeout", durationMs: 2500 });
  });
});

describe("failures of the agent", () => {
  it("are waited out longer and longer, until there are too many in a row", async () => {
    const { outcome, backoffs } = await play({ answers: [{ error: "exit code 1" }] });
    expect(backoffs).toEqual([1, 2, 4, 8]);
    expect(outcome).toMatchObject({
      ...{ reason: "agent_failed", iterations: 5, message: "agent failed: exit code 1" },
    });
    const { backoffs: many } = await play({
      limits: { maxFailures: 12, maxIterations: 20 },
      answers: [{ error: "x" }],
    });
    expect(many.slice(-3)).toEqual([256, 300, 300]);
  });

  it("are not waited out any longer when the run is paused, or after a signal", async () => {
    const { outcome, events, backoffs } = await play({
      answers: [{ error: "x" }],
      limits: { maxFailures: 9 },
      onSleep: ({ pause, stop, now }) => {
        if (now > START + 20_000) pause(true);
        if (now > START + 60_000) stop.abort();
      },
    });
    const paused = events.find(({ type }) => type === "run.paused")?.ts ?? "";
    expect([backoffs, outcome.reason]).toEqual([[1, 2, 4, 8, 16], "interrupted"]);
    expect(Date.parse(paused) - START).toBeLessThan(22_000);
  });

  it("are never taken for being stuck", async () => {
    const limits = { maxFailures: 4 };
    const { outcome } = await play({ answers: [{ error: "x" }], verdicts: [FAILED], limits });
    expect(outcome.reason).toBe("agent_failed");
  });

  it.each<[string, World, string[]]>([
    ["is asked for three more times", { limits: { maxFailures: 1 } }, ["1.1", "1.2", "1.3", "1.4"]],
    [
      "is not asked for again where the work is there",
      { plan: async () => ({ prompt: "p", hasWorked: () => true }), limits: { maxIterations: 2 } },
      ["1.1", "2.1"],
    ],
  ])("an empty answer %s", async (_, world, calls) => {
    const { requests } = await play({ answers: [{ empty: true }], ...world });
    expect(requests.map(({ iteration, attempt }) => `${iteration}.${attempt}`)).toEqual(calls);
  });
});

describe("signals and pauses", () => {
  it("a signal ends the run after the agent at work, before verification", async () => {
    const { outcome, types } = await play({ onAgent: (_, { stop }) => stop.abort() });
    expect(types).toEqual(["run.started", ...ITERATION.slice(0, 3), "run.finished"]);
    expect(outcome).toMatchObject({ reason: "interrupted", exitCode: 130, iterations: 0 });
  });

  it("an iteration whose verification was cut off does not count", async () => {
    const { outcome } = await play({
      verdicts: [NOT_YET, undefined],
      onAgent: (call, { stop }) => call === 2 && stop.abort(),
    });
    expect(outcome).toMatchObject({ reason: "interrupted", iterations: 1 });
  });

  it("the time of a pause is not counted, and a signal ends it", async () => {
    let polls = 0;
    const { outcome, types } = await play({
      verdicts: [NOT_YET, DONE],
      answers: [{ takesMs: 100 }],
      onAgent: (call, { pause }) => call === 1 && pause(true),
      onSleep: ({ pause }) => {
        polls += 1;
        if (polls === 3) pause(false);
      },
    });
    const ofRun = ["run.started", "run.paused", "run.resumed", "run.finished"];
    expect(types.filter((type) => type.startsWith("run."))).toEqual(ofRun);
    expect(outcome).toMatchObject({ reason: "completed", durationMs: 200 });
    const ended = await play({ onAgent: (_, { pause }) => pause(true), onSleep: ({ stop }) => stop.abort() });
    expect(ended.outcome).toMatchObject({ reason: "interrupted", iterations: 1 });
  });
});
