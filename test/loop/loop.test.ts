import { describe, expect, it } from "vitest";
import type { AgentFinished, Json, Limits, LoopEvent, Outcome } from "../../src/events.js";
import type { AgentRequest, AgentRun, Clock, Effects } from "../../src/loop/effects.js";
import { loop } from "../../src/loop/loop.js";
import type { Recipe, Verdict } from "../../src/loop/recipe.js";
import { initialState, type RunState } from "../../src/records/run-state.js";
import { LIMITS } from "../kit.js";

const FAILED: Verdict = { passed: false, reason: "checks failed", claimedDone: false, failure: "same" };
const NOT_YET: Verdict = { passed: true, reason: "not yet", claimedDone: false };
const DONE: Verdict = { passed: true, reason: "completed", claimedDone: true, stop: "completed" };

const ANSWER: AgentRun = {
  finalMessage: "",
  error: null,
  empty: false,
  stopped: null,
  costUsd: 0,
  durationMs: 0,
  steps: 0,
};

interface World {
  limits?: Partial<Limits>;
  state?: RunState;
  /** What the agent does in each call; the last one again and again. */
  answers?: (Partial<AgentRun> & { costUsd?: number; tokens?: number; takesMs?: number })[];
  verdicts?: (Verdict | undefined)[];
  trees?: string[];
  /** Called with the number of each agent call, before it answers. */
  onAgent?: (call: number, controls: Controls) => void;
  verify?: Recipe["verify"];
  plan?: Recipe["plan"];
  steering?: Effects["steering"];
}

interface Controls {
  stop: AbortController;
  kill: AbortController;
  pause(paused: boolean): void;
  clock: FakeClock;
}

interface FakeClock extends Clock {
  pass(ms: number): void;
  slept: number[];
}

function fakeClock(controls: { onSleep?: () => void } = {}): FakeClock {
  let elapsed = 0;
  const slept: number[] = [];
  return {
    slept,
    pass: (ms) => {
      elapsed += ms;
    },
    now: () => new Date(Date.UTC(2026, 0, 1) + elapsed),
    elapsed: () => elapsed,
    sleep: async (ms) => {
      elapsed += ms;
      slept.push(ms);
      controls.onSleep?.();
    },
  };
}

function looks(content: () => string): Effects["tree"] {
  return { own: new Set(), read: async () => ({ word: "", content: content(), files: () => new Map() }) };
}

/** The loop in a world without processes, files or time. */
async function play(world: World, onSleep?: (controls: Controls) => void) {
  const stop = new AbortController();
  const kill = new AbortController();
  let paused = false;
  const clock: FakeClock = fakeClock({ onSleep: () => onSleep?.(controls) });
  const controls: Controls = { stop, kill, clock, pause: (value) => (paused = value) };
  const requests: AgentRequest[] = [];
  const memories: (Json | undefined)[] = [];
  let trees = 0;
  const effects: Effects = {
    clock,
    isPaused: () => paused,
    signals: { stop: stop.signal, kill: kill.signal },
    ...(world.steering && { steering: world.steering }),
    changedFiles: async () => null,
    settle: async function* () {
      return { worktree: null };
    },
    tree: looks(() => nth(world.trees ?? ["t"], Math.ceil(trees++ / 2))),
    async *runAgent(request) {
      requests.push(request);
      world.onAgent?.(requests.length, controls);
      const {
        costUsd = 0,
        tokens = 0,
        takesMs = 0,
        ...answer
      } = nth(world.answers ?? [{}], requests.length - 1);
      clock.pass(takesMs);
      yield finishedAgent(request.iteration, costUsd, tokens);
      return { ...ANSWER, costUsd, ...answer };
    },
  };
  let judged = 0;
  const recipe: Recipe = {
    name: "test",
    verifies: true,
    plan:
      world.plan ??
      (async ({ memory }) => {
        memories.push(memory);
        return { prompt: "p" };
      }),
    verify:
      world.verify ??
      async function* () {
        return nth(world.verdicts ?? [NOT_YET], judged++);
      },
  };
  const limits = { ...LIMITS, ...world.limits };
  const events: LoopEvent[] = [];
  const state = world.state ?? initialState("run");
  const generator = loop(
    recipe,
    effects,
    { limits, agent: "fake", credentials: null, workspace: "/w" },
    state,
  );
  let step = await generator.next();
  for (; !step.done; step = await generator.next()) events.push(step.value);
  const outcome: Outcome = step.value;
  return { outcome, events, types: events.map(({ type }) => type), requests, memories, clock, state };
}

function nth<T>(list: T[], index: number): T {
  return list[Math.min(index, list.length - 1)] as T;
}

function finishedAgent(iteration: number, costUsd: number, inputTokens: number): AgentFinished {
  return {
    type: "agent.finished",
    iteration,
    exitCode: 0,
    signal: null,
    durationMs: 0,
    costUsd,
    inputTokens,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    steps: 0,
    error: null,
    empty: false,
    stopped: null,
    finalMessage: "",
    log: "",
  };
}

describe("the loop", () => {
  it("asks nobody where the recipe needs no agent, verifies all the same, and keeps what somebody said", async () => {
    const { types, requests } = await play({
      plan: async ({ iteration }) => ({ prompt: iteration === 1 ? null : "p" }),
      verdicts: [NOT_YET, DONE],
      steering: () => ({ text: "said", taken: () => {} }),
    });
    expect(types).toEqual([
      "run.started",
      ...["iteration.started", "iteration.finished"],
      ...["iteration.started", "agent.finished", "iteration.finished"],
      "run.finished",
    ]);
    expect(requests.map(({ iteration, prompt }) => [iteration, prompt])).toEqual([[2, "p\n\nsaid"]]);
  });

  it("plans, asks, verifies and decides, and tells every step", async () => {
    const { outcome, types } = await play({ verdicts: [NOT_YET, DONE] });
    expect(types).toEqual([
      "run.started",
      ...["iteration.started", "agent.finished", "iteration.finished"],
      ...["iteration.started", "agent.finished", "iteration.finished"],
      "run.finished",
    ]);
    expect(outcome).toEqual({
      success: true,
      reason: "completed",
      exitCode: 0,
      iterations: 2,
      costUsd: 0,
      inputTokens: 0,
      outputTokens: 0,
      durationMs: 0,
      filesChanged: null,
      worktree: null,
    });
  });

  it("carries what a verdict remembers into the next plan", async () => {
    const { memories } = await play({ verdicts: [{ ...NOT_YET, memory: { a: 1 } }, NOT_YET, DONE] });
    expect(memories).toEqual([undefined, { a: 1 }, undefined]);
  });

  it("gives the words of a failed agent no weight, and verifies all the same", async () => {
    const heard: unknown[] = [];
    await play({
      limits: { maxIterations: 1 },
      answers: [{ finalMessage: "DONE", error: "exit code 1" }],
      async *verify(answer) {
        heard.push(answer);
        return NOT_YET;
      },
    });
    expect(heard).toEqual([{ ...ANSWER, finalMessage: "", error: "exit code 1" }]);
  });

  it("stops with an error of its own when the recipe cannot go on", async () => {
    const { RalphError } = await import("../../src/errors.js");
    const { outcome } = await play({
      async plan() {
        throw new RalphError("prompt file not found: P.md", { code: "x" });
      },
    });
    expect(outcome).toMatchObject({
      success: false,
      reason: "error",
      exitCode: 1,
      message: "prompt file not found: P.md",
    });
  });

  it("says so when a resume would end in the same way, with what to do instead", async () => {
    const { RalphError } = await import("../../src/errors.js");
    const { outcome } = await play({
      async plan() {
        throw new RalphError("other stories", { code: "x", hint: "start anew", isFinal: true });
      },
    });
    expect(outcome).toMatchObject({ reason: "error", message: "other stories; start anew", final: true });
  });

  it("does not swallow an error that nobody expected", async () => {
    const plan = async () => {
      throw new TypeError("a bug");
    };
    await expect(play({ plan })).rejects.toThrow("a bug");
  });
});

describe("limits of the loop", () => {
  it.each([
    ["iterations", { maxIterations: 1 }],
    ["cost", { maxCostUsd: 1 }],
    ["tokens", { maxTokens: 100 }],
    ["time", { maxTimeMs: 50 }],
  ] as [string, Partial<Limits>][])(
    "looks at %s after verification: finished work is success",
    async (_, limits) => {
      const { outcome } = await play({
        limits,
        answers: [{ costUsd: 2, tokens: 200, takesMs: 90 }],
        verdicts: [DONE],
      });
      expect(outcome).toMatchObject({ reason: "completed", exitCode: 0 });
    },
  );

  it.each([
    ["max_iterations", { maxIterations: 2 }, 2],
    ["budget_exhausted", { maxCostUsd: 5 }, 3],
    ["budget_exhausted", { maxTokens: 400 }, 2],
    ["timeout", { maxTimeMs: 350 }, 4],
  ] as [string, Partial<Limits>, number][])(
    "stops with %s at its limit",
    async (reason, limits, iterations) => {
      const { outcome } = await play({ limits, answers: [{ costUsd: 2, tokens: 200, takesMs: 100 }] });
      expect(outcome).toMatchObject({ reason, iterations, exitCode: 1 });
    },
  );

  it("tells the agent what is left", async () => {
    const limits = { maxIterations: 2, maxCostUsd: 5, maxTokens: 1000, maxTimeMs: 1000 };
    const { requests } = await play({ limits, answers: [{ costUsd: 2, tokens: 200, takesMs: 100 }] });
    expect(requests.map(({ remaining }) => remaining)).toEqual([
      { costUsd: 5, tokens: 1000, timeMs: 1000 },
      { costUsd: 3, tokens: 800, timeMs: 900 },
    ]);
  });

  it("keeps the first reason: an agent cut off for its cost in the last iteration", async () => {
    const { outcome } = await play({
      limits: { maxIterations: 1, maxFailures: 1 },
      answers: [{ error: "the cost limit was passed", stopped: "budget_exhausted" }],
    });
    expect(outcome.reason).toBe("budget_exhausted");
  });

  it("does not wait longer after a failure than there is time", async () => {
    const { outcome, clock } = await play({
      limits: { maxTimeMs: 2500, maxFailures: 9 },
      answers: [{ error: "x" }],
    });
    expect(outcome.reason).toBe("timeout");
    expect(clock.elapsed()).toBe(2500);
  });
});

describe("failures of the agent", () => {
  it("are waited out longer and longer, until there are too many in a row", async () => {
    const { outcome, events } = await play({ answers: [{ error: "exit code 1" }] });
    const seconds = events.flatMap((event) => (event.type === "backoff.started" ? [event.seconds] : []));
    expect({ seconds, outcome }).toMatchObject({
      seconds: [1, 2, 4, 8],
      outcome: { reason: "agent_failed", iterations: 5, message: "agent failed: exit code 1" },
    });
  });

  it("are waited for five minutes at the most", async () => {
    const { events } = await play({
      limits: { maxFailures: 12, maxIterations: 20 },
      answers: [{ error: "x" }],
    });
    const seconds = events.flatMap((event) => (event.type === "backoff.started" ? [event.seconds] : []));
    expect(seconds.slice(-3)).toEqual([256, 300, 300]);
  });

  it("are never taken for being stuck", async () => {
    const { outcome } = await play({
      answers: [{ error: "x" }],
      verdicts: [FAILED],
      limits: { maxFailures: 4 },
    });
    expect(outcome.reason).toBe("agent_failed");
  });

  it("an empty answer is not asked for again where the work is there", async () => {
    const { requests } = await play({
      answers: [{ empty: true }],
      plan: async () => ({ prompt: "p", hasWorked: () => true }),
      limits: { maxIterations: 2 },
    });
    expect(requests.map(({ iteration, attempt }) => `${iteration}.${attempt}`)).toEqual(["1.1", "2.1"]);
  });

  it("includes an empty answer only after it was asked for three more times", async () => {
    const { outcome, requests } = await play({ answers: [{ empty: true }], limits: { maxFailures: 1 } });
    expect(requests.map(({ iteration, attempt }) => `${iteration}.${attempt}`)).toEqual([
      "1.1",
      "1.2",
      "1.3",
      "1.4",
    ]);
    expect(outcome).toMatchObject({ reason: "agent_failed", iterations: 1 });
  });
});

describe("being stuck", () => {
  it("is N iterations in a row that changed no file and failed alike", async () => {
    const { outcome } = await play({ verdicts: [FAILED] });
    expect(outcome).toMatchObject({ reason: "stuck", iterations: 3 });
  });

  it("starts anew when a file was changed", async () => {
    const { outcome } = await play({ verdicts: [FAILED], trees: ["a", "a", "b", "b", "b", "b"] });
    expect(outcome).toMatchObject({ reason: "stuck", iterations: 5 });
  });

  it("starts anew when the failure is another one", async () => {
    const other = { ...FAILED, failure: "other" };
    const { outcome } = await play({ verdicts: [FAILED, FAILED, other] });
    expect(outcome).toMatchObject({ reason: "stuck", iterations: 5 });
  });

  it("can be switched off, and then no file is looked at", async () => {
    const { outcome, events } = await play({
      verdicts: [FAILED],
      limits: { stuckAfter: 0, maxIterations: 4 },
    });
    expect(outcome).toMatchObject({ reason: "max_iterations", iterations: 4 });
    expect(JSON.stringify(events)).not.toContain('"tree"');
  });
});

describe("signals and pauses", () => {
  it("ends after the agent at work, before verification", async () => {
    const { outcome, types } = await play({ onAgent: (_, { stop }) => stop.abort() });
    expect(types).toEqual(["run.started", "iteration.started", "agent.finished", "run.finished"]);
    expect(outcome).toMatchObject({ reason: "interrupted", exitCode: 130, iterations: 0 });
  });

  it("does not count an iteration whose verification was cut off", async () => {
    const { outcome } = await play({
      verdicts: [NOT_YET, undefined],
      onAgent: (call, { stop }) => call === 2 && stop.abort(),
    });
    expect(outcome).toMatchObject({ reason: "interrupted", iterations: 1 });
  });

  it("waits while paused, and does not count that time", async () => {
    let polls = 0;
    const { outcome, types } = await play(
      {
        verdicts: [NOT_YET, DONE],
        answers: [{ takesMs: 100 }],
        onAgent: (call, { pause }) => call === 1 && pause(true),
      },
      ({ pause }) => {
        polls += 1;
        if (polls === 3) pause(false);
      },
    );
    expect(types.filter((type) => type.startsWith("run."))).toEqual([
      "run.started",
      "run.paused",
      "run.resumed",
      "run.finished",
    ]);
    expect(outcome).toMatchObject({ reason: "completed", durationMs: 200 });
  });

  it("ends while paused when a signal comes", async () => {
    const { outcome } = await play({ onAgent: (_, { pause }) => pause(true) }, ({ stop }) => stop.abort());
    expect(outcome).toMatchObject({ reason: "interrupted", iterations: 1 });
  });
});

describe("going on", () => {
  it("continues with the counters of the state, and says so instead of starting", async () => {
    const before = await play({
      answers: [{ costUsd: 1, tokens: 10, takesMs: 100 }],
      limits: { maxIterations: 2 },
    });
    const { outcome, types, requests } = await play({
      state: { ...before.state, status: "running" },
      answers: [{ costUsd: 1, tokens: 10, takesMs: 100 }],
      verdicts: [DONE],
    });
    expect(types[0]).toBe("run.resumed");
    expect(requests.map(({ iteration }) => iteration)).toEqual([3]);
    expect(outcome).toMatchObject({ iterations: 3, costUsd: 3, inputTokens: 30, durationMs: 300 });
  });

  it("stops the agent when nobody listens any more", async () => {
    let ended = false;
    const effects = {
      clock: fakeClock(),
      isPaused: () => false,
      signals: { stop: new AbortController().signal, kill: new AbortController().signal },
      changedFiles: async () => null,
      settle: async function* () {
        return { worktree: null };
      },
      tree: looks(() => "t"),
      async *runAgent() {
        try {
          yield finishedAgent(1, 0, 0);
          return ANSWER;
        } finally {
          ended = true;
        }
      },
    } satisfies Effects;
    const recipe: Recipe = {
      name: "test",
      verifies: false,
      plan: async () => ({ prompt: "p" }),
      async *verify() {
        return NOT_YET;
      },
    };
    for await (const { type } of loop(
      recipe,
      effects,
      { limits: LIMITS, agent: "a", credentials: null, workspace: "/" },
      initialState("r"),
    )) {
      if (type === "agent.finished") break;
    }
    expect(ended).toBe(true);
  });
});

describe("the plan of an iteration", () => {
  it("says what it is for and about, and who is asked; an answer from before a crash is told to it", async () => {
    const state = initialState("run");
    state.startedAt = "2026-01-01T00:00:00.000Z";
    state.answer = ANSWER;
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
    const started = events.filter(({ type }) => type === "iteration.started");
    expect(started).toMatchObject([
      { iteration: 1, mode: "review", about: "US-1" },
      { iteration: 2, mode: "review", about: "US-1" },
    ]);
  });
});
