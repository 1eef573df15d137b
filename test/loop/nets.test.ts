import { describe, expect, it, test } from "vitest";
import type { Limits, LoopEvent, Question, UsageLimit } from "../../src/events.js";
import type { AgentRequest, Effects } from "../../src/loop/effects.js";
import { loop } from "../../src/loop/loop.js";
import type { Recipe, Verdict } from "../../src/loop/recipe.js";
import { advance, initialState, type RunState } from "../../src/records/run-state.js";
import { LIMITS } from "../kit.js";

const NOT_YET: Verdict = { passed: true, reason: "not yet", claimedDone: false };
const DONE: Verdict = { passed: true, reason: "completed", claimedDone: true, stop: "completed" };
const FAILED: Verdict = { passed: false, reason: "npm test failed", claimedDone: false, failure: "same" };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 10, 15, 12);
const UNSTATED: UsageLimit = { resetsAt: null, message: "You've hit your limit" };

function until(ms: number): UsageLimit {
  return { resetsAt: new Date(START + ms).toISOString(), message: "You've hit your limit" };
}

interface Answer {
  limit?: UsageLimit;
  error?: string;
  text?: string;
  takesMs?: number;
  steps?: number;
}

interface World {
  limits?: Partial<Limits>;
  others?: Record<string, string>;
  /** By role; the last one again and again. */
  agents?: Record<string, Answer[]>;
  verdicts?: Verdict[];
  trees?: string[];
  /** The same where checks change files: at the start, then before and after each verification. */
  everyTree?: string[];
  state?: RunState;
  handOver?: Effects["handOver"];
  /** Told in every iteration. */
  steering?: string;
  /** Called at every sleep. */
  onSleep?: (world: { stop: AbortController; pause: (paused: boolean) => void; now: number }) => void;
}

/** The loop with agents that are scripted by their roles, in a world without time. */
async function play(world: World) {
  let elapsed = world.state === undefined ? 0 : Date.parse(world.state.lastSeenAt) - START;
  let paused = false;
  let trees = 0;
  let judged = 0;
  const stop = new AbortController();
  const requests: AgentRequest[] = [];
  const questions: (Question | undefined)[] = [];
  const calls: Record<string, number> = {};
  const effects: Effects = {
    clock: {
      now: () => new Date(START + elapsed),
      elapsed: () => elapsed,
      sleep: async (ms) => {
        elapsed += ms;
        world.onSleep?.({ stop, pause: (value) => (paused = value), now: START + elapsed });
      },
    },
    isPaused: () => paused,
    ...(world.handOver && { handOver: world.handOver }),
    steering: () => (world.steering === undefined ? undefined : { text: world.steering, taken: () => {} }),
    signals: { stop: stop.signal, kill: new AbortController().signal },
    changedFiles: async () => null,
    settle: async function* () {
      return { worktree: null };
    },
    tree: {
      own: new Set(),
      read: async () => ({
        word: "",
        content: world.everyTree?.[trees++] ?? nth(world.trees ?? ["t"], Math.ceil(trees++ / 2)),
        files: () => new Map(),
      }),
    },
    async *runAgent(request) {
      requests.push(request);
      const role = request.agent ?? "agent";
      calls[role] = (calls[role] ?? 0) + 1;
      const {
        limit,
        error = null,
        text = "",
        takesMs = 0,
        steps = 1,
      } = nth(world.agents?.[role] ?? [{}], calls[role] - 1);
      const { iteration, attempt, insteadOf } = request;
      yield {
        type: "agent.started",
        iteration,
        agent: role,
        command: [],
        attempt,
        prompt: "",
        ...(request.agent && { role }),
        ...(insteadOf && { insteadOf }),
      };
      elapsed += takesMs;
      const failure = error ?? limit?.message ?? null;
      const answer = {
        finalMessage: text,
        error: failure,
        empty: false,
        stopped: null,
        costUsd: 0,
        durationMs: takesMs,
      };
      const spent = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, steps };
      const ended = { ...answer, steps, ...(limit && { limit }) };
      yield { type: "agent.finished", iteration, exitCode: 0, signal: null, log: "", ...spent, ...ended };
      return ended;
    },
  };
  const recipe: Recipe = {
    name: "test",
    verifies: true,
    plan: async () => ({ prompt: "p" }),
    verify: async function* ({ asked }) {
      questions.push(asked);
      return nth(world.verdicts ?? [DONE], judged++);
    },
  };
  const events: LoopEvent[] = [];
  const state = world.state ?? initialState("run");
  const { others = {} } = world;
  const options = {
    limits: { ...LIMITS, ...world.limits },
    agent: "agent",
    credentials: null,
    workspace: "/w",
    others,
  };
  const generator = loop(recipe, effects, options, state);
  let step = await generator.next();
  for (; !step.done; step = await generator.next()) events.push(step.value);
  return {
    outcome: step.value,
    events,
    types: events.map(({ type }) => type),
    prompts: requests.map(({ prompt }) => prompt),
    asked: requests.map(({ iteration, agent = "agent" }) => `${iteration} ${agent}`),
    questions,
    waits: events.flatMap((event) => (event.type === "limit.waiting" ? [event] : [])),
    minutes: elapsed / MINUTE,
  };
}

function nth<T>(list: T[], index: number): T {
  return list[Math.min(index, list.length - 1)] as T;
}

describe("a usage limit", () => {
  it("leaves the files to the user before it is waited for", async () => {
    const agents = { agent: [{ limit: until(2 * HOUR) }, {}] };
    const { types } = await play({
      agents,
      async *handOver(iteration) {
        yield { type: "violation", iteration, what: "a is protected", file: "a" };
      },
    });
    expect(types.slice(3, 6)).toEqual(["agent.finished", "violation", "limit.waiting"]);
  });

  it("is not waited for when nothing is left to spend afterwards", async () => {
    const agents = { agent: [{ limit: until(2 * HOUR), takesMs: 2 * MINUTE }] };
    const { outcome, waits } = await play({ agents, limits: { maxTimeMs: MINUTE } });
    expect([outcome.reason, waits]).toEqual(["timeout", []]);
  });

  it("is waited for until a minute after its end, and charges nothing", async () => {
    const agents = { agent: [{ limit: until(2 * HOUR), takesMs: 1000 }, { takesMs: 1000 }] };
    const { outcome, types, waits } = await play({ agents, limits: { maxTimeMs: MINUTE, maxIterations: 1 } });
    expect(types).toEqual([
      "run.started",
      ...["iteration.started", "agent.started", "agent.finished", "limit.waiting"],
      ...["iteration.started", "agent.started", "agent.finished", "iteration.finished"],
      "run.finished",
    ]);
    expect(waits).toEqual([
      {
        v: 1,
        type: "limit.waiting",
        ts: new Date(START + 1000).toISOString(),
        run: "run",
        iteration: 1,
        agent: "agent",
        until: new Date(START + 2 * HOUR + MINUTE).toISOString(),
        since: new Date(START + 1000).toISOString(),
        attempt: 1,
        stated: true,
        message: "You've hit your limit",
        activeMs: 1000,
      },
    ]);
    expect(outcome).toMatchObject({ reason: "completed", iterations: 1, durationMs: 2000 });
  });

  it("without a time is tried again after 5, 15, 30, 60 and 60 minutes, a little later each time", async () => {
    const limited = { limit: UNSTATED, takesMs: 501 };
    const { waits } = await play({ agents: { agent: [...Array(5).fill(limited), {}] } });
    const minutes = waits.map(({ ts, until: end }) => (Date.parse(end) - Date.parse(ts)) / MINUTE);
    expect(minutes.map((value) => [5, 15, 30, 60].findLast((step) => step <= value))).toEqual([
      5, 15, 30, 60, 60,
    ]);
    expect(minutes.every((value, at) => value > ([5, 15, 30, 60, 60][at] ?? 0) && value < 66)).toBe(true);
  });

  it("whose time has passed and that stands all the same is not asked for at once, again and again", async () => {
    const past = until(-HOUR);
    const { waits } = await play({ agents: { agent: [{ limit: past }, { limit: past }, {}] } });
    expect(waits.map(({ stated }) => stated)).toEqual([true, false]);
    expect(waits.map(({ ts, until: end }) => (Date.parse(end) - Date.parse(ts)) / MINUTE)).toEqual([1, 15]);
  });

  test.each([
    [
      "is further away than one may wait",
      until(3 * HOUR),
      { maxLimitWaitMs: 2 * HOUR },
      0,
      "longer than --max-limit-wait (2h0m) allows",
    ],
    ["is not to be waited for", until(HOUR), { waitForLimits: false }, 0, "(--no-wait-for-limits)"],
    [
      "does not end while one may wait",
      UNSTATED,
      { maxLimitWaitMs: 10 * MINUTE },
      10,
      "longer than --max-limit-wait",
    ],
  ])("that %s ends the run, with no iteration charged", async (_, limit, limits, waited, why) => {
    const { outcome, minutes } = await play({ agents: { agent: [{ limit }] }, limits });
    expect(outcome).toMatchObject({ reason: "agent_failed", exitCode: 1, iterations: 0 });
    expect(outcome.message).toContain(why);
    expect(minutes).toBe(waited);
  });

  it("is not waited for any longer after a signal", async () => {
    const { outcome, minutes } = await play({
      agents: { agent: [{ limit: until(HOUR) }] },
      onSleep: ({ stop }) => stop.abort(),
    });
    expect(outcome).toMatchObject({ reason: "interrupted", exitCode: 130, iterations: 0 });
    expect(minutes).toBeLessThan(1);
  });

  it("lets the run be paused, and is waited for again afterwards", async () => {
    const { types, waits, minutes } = await play({
      agents: { agent: [{ limit: until(HOUR) }, {}] },
      onSleep: ({ pause, now }) => pause(now > START + 10 * MINUTE && now < START + 20 * MINUTE),
    });
    expect(types.filter((type) => /paused|resumed|waiting/.test(type))).toEqual([
      "limit.waiting",
      "run.paused",
      "run.resumed",
      "limit.waiting",
    ]);
    expect(new Set(waits.map(({ until: end }) => end)).size).toBe(1);
    expect(minutes).toBeCloseTo(61, 1);
  });

  it("is waited for by the process that goes on, and not counted as time at work", async () => {
    const agents = { agent: [{ limit: until(HOUR), takesMs: 1000 }, {}] };
    const before = await play({
      agents,
      onSleep: ({ stop, now }) => now > START + 10 * MINUTE && stop.abort(),
    });
    // As after kill -9: the journal ends with the wait.
    const at = before.types.indexOf("limit.waiting");
    const state = before.events.slice(0, at + 1).reduce(advance, initialState("run"));
    expect(state).toMatchObject({ status: "waiting", activeMs: 1000, iterations: 0 });
    const after = await play({ agents: { agent: [{}] }, state });
    expect(after.waits.map(({ until: end }) => end)).toEqual([new Date(START + HOUR + MINUTE).toISOString()]);
    expect(after.outcome).toMatchObject({ reason: "completed", iterations: 1, durationMs: 1000 });
    expect(after.minutes).toBe(61);
  });
});

describe("another agent", () => {
  const others = { "fallback-1": "codex", "fallback-2": "gemini" };

  it("is asked while one is limited, and the first again when that is over", async () => {
    const { asked, events, waits } = await play({
      others,
      agents: { agent: [{ limit: until(HOUR) }, {}], "fallback-1": [{ takesMs: 40 * MINUTE }] },
      verdicts: [NOT_YET, NOT_YET, DONE],
    });
    expect(asked).toEqual(["1 agent", "1 fallback-1", "2 fallback-1", "3 agent"]);
    expect(waits).toEqual([]);
    const started = events.filter((event) => event.type === "agent.started");
    expect(started.map(({ insteadOf }) => insteadOf)).toEqual([undefined, "agent", "agent", undefined]);
  });

  it("is asked in the same iteration when one is down, which is no failure", async () => {
    const { asked, outcome } = await play({
      others,
      agents: { agent: [{ error: "exit code 1: connection refused", steps: 0 }] },
    });
    expect(asked).toEqual(["1 agent", "1 fallback-1"]);
    expect(outcome).toMatchObject({ reason: "completed", iterations: 1 });
  });

  it("is not asked when one has worked and failed", async () => {
    const { asked } = await play({
      others,
      agents: { agent: [{ error: "exit code 1", steps: 3 }, {}] },
      verdicts: [NOT_YET, DONE],
    });
    expect(asked).toEqual(["1 agent", "2 agent"]);
  });

  it("does not help when all are limited: the first that is free is waited for", async () => {
    const { asked, waits } = await play({
      others,
      agents: {
        agent: [{ limit: until(3 * HOUR) }],
        "fallback-1": [{ limit: until(HOUR) }, {}],
        "fallback-2": [{ limit: until(2 * HOUR) }],
      },
    });
    expect(asked).toEqual(["1 agent", "1 fallback-1", "1 fallback-2", "1 fallback-1"]);
    expect(waits.map(({ agent, until: end }) => [agent, end])).toEqual([
      ["codex", new Date(START + HOUR + MINUTE).toISOString()],
    ]);
  });

  it("does not help when all are down: the iteration has failed", async () => {
    const down = [{ error: "exit code 1", steps: 0 }];
    const { outcome } = await play({
      others,
      agents: { agent: down, "fallback-1": down, "fallback-2": down },
      verdicts: [NOT_YET],
    });
    expect(outcome).toMatchObject({ reason: "agent_failed", iterations: 5 });
  });

  it("is remembered over a restart", async () => {
    const { events } = await play({
      others,
      agents: { agent: [{ limit: until(HOUR) }] },
      verdicts: [NOT_YET],
      limits: { maxIterations: 1 },
    });
    const state = events
      .filter(({ type }) => type === "iteration.finished")
      .reduce(advance, initialState("run"));
    expect(Object.keys(state.limited)).toEqual(["agent"]);
  });
});

describe("being stuck", () => {
  it("is told though the checks write files", async () => {
    const { outcome } = await play({ verdicts: [FAILED], everyTree: [..."AABBCCDD"] });
    expect(outcome).toMatchObject({ reason: "stuck", iterations: 3 });
  });

  it("is told to the next agent before the run is given up, with a diagnosis", async () => {
    const { outcome, prompts } = await play({ verdicts: [FAILED] });
    expect(prompts.map((prompt) => prompt.slice(0, 60))).toEqual([
      "p",
      "p",
      "p\n\nThe last 2 attempts failed alike; try another way. They c",
    ]);
    expect(prompts[2]).toContain("try another way");
    expect(outcome).toMatchObject({
      reason: "stuck",
      iterations: 3,
      message: "3 iterations in a row changed no file and failed alike: npm test failed",
    });
  });

  it("is going back and forth between the same states", async () => {
    const { outcome, prompts } = await play({
      verdicts: [..."bababa"].map((failure) => ({ ...FAILED, failure })),
      trees: ["A", "B", "A", "B", "A", "B"],
    });
    expect(outcome).toMatchObject({
      reason: "stuck",
      iterations: 4,
      message:
        "in 3 iterations in a row the files only went back to a state that they were in before: npm test failed",
    });
    expect(prompts[3]).toContain("The last 2 attempts failed alike");
  });

  it("is not a single step back", async () => {
    const { outcome } = await play({
      verdicts: [FAILED],
      trees: ["A", "B", "A", "C", "D", "E"],
      limits: { maxIterations: 5 },
    });
    expect(outcome.reason).toBe("max_iterations");
  });

  it("is not the same final message while the checks say something new", async () => {
    const { outcome } = await play({
      agents: { agent: [{ text: "I did one more task." }] },
      verdicts: [..."abcdefghij"].map((failure) => ({ ...FAILED, failure })),
      trees: ["A", ..."BABABABABA"],
    });
    expect(outcome).toMatchObject({ reason: "max_iterations", iterations: 10 });
  });

  it("is not a check that fails in another way though no file changed", async () => {
    const { outcome } = await play({
      verdicts: [..."aabbaabbaa"].map((failure) => ({ ...FAILED, failure })),
    });
    expect(outcome).toMatchObject({ reason: "max_iterations", iterations: 10 });
  });

  it("does not hide a limit that the same iteration reached", async () => {
    const { outcome } = await play({ verdicts: [FAILED], limits: { maxIterations: 3 } });
    expect(outcome).toMatchObject({ reason: "max_iterations", iterations: 3 });
  });

  it("gets the stronger model first, and that one is named in the diagnosis", async () => {
    const { outcome, asked } = await play({ others: { escalated: "claude (opus)" }, verdicts: [FAILED] });
    expect(asked.map((each) => each.split(" ")[1])).toEqual([
      ...["agent", "agent", "agent"],
      ...["escalated", "escalated", "escalated"],
    ]);
    expect(outcome.message).toMatch(
      /^6 iterations .* npm test failed; claude \(opus\) could not help either$/,
    );
  });

  it("is over when it fails in another way: the first model is asked again", async () => {
    const { asked } = await play({
      others: { escalated: "claude (opus)" },
      verdicts: [FAILED, FAILED, FAILED, { ...FAILED, failure: "other" }, DONE],
      trees: ["A", "A", "A", "A", "B"],
    });
    expect(asked).toEqual(["1 agent", "2 agent", "3 agent", "4 escalated", "5 agent"]);
  });
});

describe("a question to a human", () => {
  const text = "I need to know:\n<promise>DECIDE: Postgres or SQLite?</promise>";

  it("ends the run as blocked", async () => {
    const { outcome, events } = await play({ agents: { agent: [{ text }] }, verdicts: [NOT_YET] });
    const question = { kind: "decide", text: "Postgres or SQLite?" };
    expect(outcome).toMatchObject({
      reason: "blocked",
      exitCode: 1,
      iterations: 1,
      message: "the agent asks: Postgres or SQLite?",
      question,
    });
    expect(events.reduce(advance, initialState("run")).question).toEqual(question);
  });

  it("does not matter when the work is done", async () => {
    const { outcome } = await play({ agents: { agent: [{ text }] }, verdicts: [DONE] });
    expect(outcome).toMatchObject({ reason: "completed" });
    expect(outcome).not.toHaveProperty("question");
  });

  it("of an agent that failed proves nothing", async () => {
    const { outcome } = await play({
      agents: { agent: [{ text, error: "exit code 1" }, {}] },
      verdicts: [NOT_YET, DONE],
    });
    expect(outcome.reason).toBe("completed");
  });
});

describe("a question", () => {
  const text = "<promise>DECIDE: blue or red?</promise>";

  it("is told to the recipe before it judges, and ends the run", async () => {
    const question = { kind: "decide", text: "blue or red?" };
    const { questions, outcome } = await play({ agents: { agent: [{ text }] }, verdicts: [FAILED] });
    expect(questions).toEqual([question]);
    expect(outcome).toMatchObject({ reason: "blocked", question });
  });

  it("that somebody has told to the agent is none, for the recipe and for the run", async () => {
    const { questions, outcome } = await play({
      agents: { agent: [{ text }] },
      verdicts: [FAILED, DONE],
      steering: `If you wonder, ask: ${text}`,
    });
    expect(questions).toEqual([undefined, undefined]);
    expect(outcome).toMatchObject({ reason: "completed" });
  });
});
