import { describe, expect, it, test } from "vitest";
import type { UsageLimit } from "../../src/events.js";
import { advance, initialState } from "../../src/records/run-state.js";
import { DONE, FAILED, MINUTE, NOT_YET, play as playWorld, START, type World } from "./world.js";

const HOUR = 60 * MINUTE;
const UNSTATED: UsageLimit = { resetsAt: null, message: "You've hit your limit" };

function until(ms: number): UsageLimit {
  return { resetsAt: new Date(START + ms).toISOString(), message: "You've hit your limit" };
}

/** The first answer is the last, unless the test says otherwise. */
const play = (world: World) => playWorld({ verdicts: [DONE], ...world });

describe("a usage limit", () => {
  it("is waited for until a minute after its end, and charges nothing", async () => {
    const answers = [{ limit: until(2 * HOUR), takesMs: 1000 }, { takesMs: 1000 }];
    const { outcome, types, waits } = await play({
      answers,
      limits: { maxTimeMs: MINUTE, maxIterations: 1 },
    });
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
    const { waits } = await play({ answers: [...Array(5).fill(limited), {}] });
    const minutes = waits.map(({ ts, until: end }) => (Date.parse(end) - Date.parse(ts)) / MINUTE);
    expect(minutes.map((value) => [5, 15, 30, 60].findLast((step) => step <= value))).toEqual([
      5, 15, 30, 60, 60,
    ]);
    expect(minutes.every((value, at) => value > ([5, 15, 30, 60, 60][at] ?? 0) && value < 66)).toBe(true);
  });

  it("whose time has passed and that stands all the same is not asked for at once, again and again", async () => {
    const past = until(-HOUR);
    const { waits } = await play({ answers: [{ limit: past }, { limit: past }, {}] });
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
    const { outcome, minutes } = await play({ answers: [{ limit }], limits });
    expect(outcome).toMatchObject({ reason: "agent_failed", exitCode: 1, iterations: 0 });
    expect(outcome.message).toContain(why);
    expect(minutes).toBe(waited);
  });

  it("is not waited for any longer after a signal", async () => {
    const { outcome, minutes } = await play({
      answers: [{ limit: until(HOUR) }],
      onSleep: ({ stop }) => stop.abort(),
    });
    expect(outcome).toMatchObject({ reason: "interrupted", exitCode: 130, iterations: 0 });
    expect(minutes).toBeLessThan(1);
  });

  it("lets the run be paused, and is waited for again afterwards", async () => {
    const { types, waits, minutes } = await play({
      answers: [{ limit: until(HOUR) }, {}],
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
    const answers = [{ limit: until(HOUR), takesMs: 1000 }, {}];
    const before = await play({
      answers,
      onSleep: ({ stop, now }) => now > START + 10 * MINUTE && stop.abort(),
    });
    // As after kill -9: the journal ends with the wait.
    const at = before.types.indexOf("limit.waiting");
    const state = before.events.slice(0, at + 1).reduce(advance, initialState("run"));
    expect(state).toMatchObject({ status: "waiting", activeMs: 1000, iterations: 0 });
    const after = await play({ answers: [{}], state });
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
      answers: [{ error: "exit code 1: connection refused", steps: 0 }],
    });
    expect(asked).toEqual(["1 agent", "1 fallback-1"]);
    expect(outcome).toMatchObject({ reason: "completed", iterations: 1 });
  });

  it("is not asked when one has worked and failed", async () => {
    const { asked } = await play({
      others,
      answers: [{ error: "exit code 1", steps: 3 }, {}],
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

  it("is remembered over a restart", async () => {
    const { events } = await play({
      others,
      answers: [{ limit: until(HOUR) }],
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
  const failing = (words: string) => [...words].map((failure) => ({ ...FAILED, failure }));

  it.each<[string, World, string, number]>([
    [
      "N iterations in a row that changed no file and failed in the same way",
      { verdicts: [FAILED] },
      "stuck",
      3,
    ],
    ["the same though checks write files", { verdicts: [FAILED], everyTree: [..."AABBCCDD"] }, "stuck", 3],
    [
      "back and forth between the same states",
      { verdicts: failing("bababa"), trees: [..."ABABAB"] },
      "stuck",
      4,
    ],
    [
      "not while the checks say something new, whatever the agent says",
      {
        answers: [{ finalMessage: "I did one more task." }],
        verdicts: failing("abcdefghij"),
        trees: [..."ABABABABABA"],
      },
      "max_iterations",
      10,
    ],
  ])("is %s", async (_, world, reason, iterations) => {
    const { outcome, events } = await play(world);
    expect(outcome).toMatchObject({ reason, iterations });
    expect(JSON.stringify(events).includes('"tree"')).toBe(world.limits?.stuckAfter !== 0);
  });

  it("is told to the next agent before the run is given up, with a diagnosis", async () => {
    const { outcome, prompts } = await play({ verdicts: [FAILED] });
    expect(prompts.map((prompt) => prompt.slice(0, 70))).toEqual([
      "p",
      "p",
      "p\n\nThe last 2 attempts failed in the same way; try another way. They c",
    ]);
    expect(outcome.message).toBe(
      "3 iterations in a row changed no file and failed in the same way: npm test failed",
    );
    const { outcome: inCircles } = await play({ verdicts: failing("bababa"), trees: [..."ABABAB"] });
    expect(inCircles.message).toBe(
      "in 3 iterations in a row the files only returned to an earlier state: npm test failed",
    );
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
  const finalMessage = "I need to know:\n<promise>DECIDE: Postgres or SQLite?</promise>";
  const question = { kind: "decide", text: "Postgres or SQLite?" };

  it("is told to the recipe before it judges, and ends the run as blocked", async () => {
    const { outcome, events, questions } = await play({ answers: [{ finalMessage }], verdicts: [FAILED] });
    expect(outcome).toMatchObject({
      ...{ reason: "blocked", exitCode: 1, iterations: 1, question },
      message: "the agent asks: Postgres or SQLite?",
    });
    expect(questions).toEqual([question]);
    expect(events.reduce(advance, initialState("run")).question).toEqual(question);
  });

  it.each<[string, World]>([
    ["when the work is done", { answers: [{ finalMessage }], verdicts: [DONE] }],
    [
      "of an agent that failed",
      { answers: [{ finalMessage, error: "exit code 1" }, {}], verdicts: [NOT_YET, DONE] },
    ],
    [
      "in words that the user said to the agent",
      {
        answers: [{ finalMessage }],
        verdicts: [FAILED, DONE],
        steering: `If you wonder, ask: ${finalMessage}`,
      },
    ],
  ])("does not count %s", async (_, world) => {
    const { outcome } = await play(world);
    expect(outcome).toMatchObject({ reason: "completed" });
    expect(outcome).not.toHaveProperty("question");
  });
});
