import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LoopEventBody } from "../../src/events.js";
import type { EntryPage, Overview, RunPage } from "../../src/ui/api.js";
import { begun, blocksOf, type EntryUpdate, heard, joined } from "../../src/ui/client/held.js";
import { blocked, dashboardOf, homeWith, iterationOf, line, RUN, STARTED } from "./kit.js";

const EVENTS = [STARTED, ...iterationOf(1), ...iterationOf(2), blocked("Which one?", 2)];

const overviewOf = async (home: string): Promise<Overview> =>
  (await (await dashboardOf(home)).get("/api/overview")).json as Overview;

describe("the overview", () => {
  test("a question needs somebody, and has an identity", async () => {
    const { rows, counts } = await overviewOf(homeWith(EVENTS).home);
    expect(counts).toEqual({ "needs you": 1, working: 0, waiting: 0, failed: 0, done: 0 });
    expect(rows).toMatchObject([
      {
        name: RUN,
        group: "needs you",
        result: "blocked: question",
        iteration: 2,
        costUsd: 0.5,
        isLiving: false,
      },
    ]);
    expect(rows[0]?.question).toMatchObject({
      text: "Which one?",
      answered: false,
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });

  test("a run whose process is gone was cut off, and an unknown cost is not 0", async () => {
    const { rows } = await overviewOf(homeWith([STARTED]).home);
    expect(rows).toMatchObject([{ group: "failed", result: "cut off", costUsd: null }]);
  });

  test("the time of a living run ends with its last event: what comes after it, the page adds", async () => {
    const { home } = homeWith([STARTED, ...iterationOf(1)]);
    writeFileSync(join(home, "runs", RUN, "elsewhere"), "{}");
    const { rows } = await overviewOf(home);
    expect(rows).toMatchObject([{ isLiving: true, activeMs: 3000 }]);
  });

  test("searches words in names, tasks and questions, and filters by project", async () => {
    const { home } = homeWith(EVENTS);
    homeWith([STARTED], { home, id: "20261101-120001-00000b", task: "another thing" });
    const { get } = await dashboardOf(home);
    const found = async (query: string): Promise<string[]> =>
      ((await get(`/api/overview?${query}`)).json as Overview).rows.map(({ task }) => task);
    expect(await found("q=ANOTHER")).toEqual(["another thing"]);
    expect(await found("q=which%20blocked")).toEqual(["do it"]);
    expect(await found("q=nothing")).toEqual([]);
    expect(await found("project=project")).toHaveLength(2);
  });
});

describe("the page of a run", () => {
  test("has its checks, iterations and figures, in the words of the report", async () => {
    const { get } = await dashboardOf(homeWith(EVENTS).home);
    const page = (await get(`/api/runs/${RUN}`)).json as RunPage;
    expect(page).toMatchObject({
      title: "Stopped: the agent needs an answer",
      look: "failed",
      unreadable: 0,
    });
    expect(page.iterations).toMatchObject([
      {
        iteration: 1,
        look: "failed",
        why: "1 of 1 checks failed",
        agentMs: 2000,
        restMs: 1000,
        costUsd: 0.5,
      },
      { iteration: 2, look: "failed" },
    ]);
    expect(page.checks).toMatchObject([
      { command: "npm test", cells: [{ look: "failed" }, { look: "failed" }] },
    ]);
    expect(page.actions).toEqual(["answer", "steer"]);
  });

  test("the work of a lane that was stopped is cut off, while other lanes are at work", async () => {
    const [, ...rest] = iterationOf(1);
    const finished = { ...blocked("", 0), reason: "interrupted", message: "" } as LoopEventBody;
    const lane = (name: string, ...bodies: LoopEventBody[]) =>
      bodies.map((body) => ({ ...body, lane: name }));
    const begin = { type: "iteration.started", iteration: 1 } as const;
    const events = [
      { ...STARTED, parallel: 2 },
      ...lane("a", STARTED, begin),
      ...lane("b", STARTED, begin, ...rest.slice(0, 1)),
      ...lane("a", finished),
    ];
    const { home } = homeWith(events);
    writeFileSync(join(home, "runs", RUN, "elsewhere"), "{}");
    const page = (await (await dashboardOf(home)).get(`/api/runs/${RUN}`)).json as RunPage;
    expect(page.iterations).toMatchObject([
      { lane: "a", look: "cut-off" },
      { lane: "b", look: "at-work" },
    ]);
  });

  test("a pipeline has all of its states, also those that it has not reached", async () => {
    const state = (name: string) => ({ name, goal: `Make ${name}`, command: `test -f ${name}` });
    const recipe = { kind: "pipeline", states: ["PLAN", "BUILD", "SHIP"].map(state) };
    const mode = (name: string, iteration: number) =>
      iterationOf(iteration).map((body) =>
        body.type === "iteration.started" ? { ...body, mode: name } : body,
      );
    const moved = { type: "state.changed", iteration: 2, from: "PLAN", to: "BUILD" } as const;
    const [begin, ...rest] = mode("PLAN", 2);
    const events = [
      STARTED,
      ...mode("PLAN", 1),
      begin as typeof STARTED,
      moved,
      ...rest,
      ...mode("BUILD", 3),
    ];
    const { get } = await dashboardOf(homeWith(events, { recipe }).home);
    const { states } = (await get(`/api/runs/${RUN}`)).json as RunPage;
    expect(states).toEqual([
      { name: "PLAN", goal: "Make PLAN", gate: "test -f PLAN", look: "passed", iterations: [1, 2] },
      { name: "BUILD", goal: "Make BUILD", gate: "test -f BUILD", look: "cut-off", iterations: [3] },
      { name: "SHIP", goal: "Make SHIP", gate: "test -f SHIP", look: "not-run", iterations: [] },
    ]);
  });

  test("counts damaged lines, waits for a torn one, and takes in what comes", async () => {
    const { home, journal } = homeWith([STARTED, ...iterationOf(1)], {
      torn: 'garbage\n{"v":1,"type":"iter',
    });
    const { get } = await dashboardOf(home);
    expect((await get(`/api/runs/${RUN}`)).json).toMatchObject({
      unreadable: 1,
      iterations: [{ iteration: 1 }],
    });
    appendFileSync(
      journal,
      `ation.oops"}\n${iterationOf(2)
        .map((body) => line(body))
        .join("")}`,
    );
    expect((await get(`/api/runs/${RUN}`)).json).toMatchObject({
      unreadable: 2,
      iterations: [{}, { iteration: 2 }],
    });
  });
});

describe("the stream", () => {
  test("who comes late and loads on has the same as who was there", async () => {
    const many = [
      STARTED,
      ...[...Array(60).keys()].flatMap((index) => iterationOf(index + 1, ["a ", "b\n", "c"])),
    ];
    const { home, journal } = homeWith([]);
    const { get } = await dashboardOf(home);
    const page = async (first: number, count: number): Promise<EntryPage> =>
      (await get(`/api/runs/${RUN}/entries?line=${first}&count=${count}`)).json as EntryPage;
    let there = begun(await page(0, 400), []);
    const told: EntryUpdate[] = [];
    let next = 0;
    const { entryOf } = await import("../../src/ui/server/entries.js");
    for (const [index, body] of many.entries()) {
      const text = line(body, index);
      appendFileSync(journal, text);
      const from = next;
      next += Buffer.byteLength(text);
      const entry = entryOf(JSON.parse(text), { next }) ?? null;
      told.push({ run: RUN, from, next, type: body.type, entry });
      there = heard(there, told.at(-1) as EntryUpdate);
    }
    let late = begun(await page(-50, 50), []);
    while (late.first > 0)
      late = joined(late, await page(Math.max(0, late.first - 70), Math.min(70, late.first)), "before", []);
    expect(blocksOf(late.entries)).toEqual(blocksOf(there.entries));
    // What came while the first page was on its way is neither lost nor there twice.
    const [early, recent] = [begun(await page(0, 100), told), told];
    expect(early.reachesEnd).toBe(false);
    let on = early;
    while (!on.reachesEnd) on = joined(on, await page(on.end, 200), "after", recent);
    expect(blocksOf(on.entries)).toEqual(blocksOf(there.entries));
    expect(
      blocksOf(there.entries)
        .filter(({ kind }) => kind === "text")
        .map(({ text }) => text),
    ).toEqual(Array(60).fill("a b\nc"));
  });

  test("is told as it is written, and goes on exactly behind the last id", async () => {
    const { home, journal } = homeWith([STARTED]);
    const { live } = await dashboardOf(home);
    const size = readFileSync(journal).length;
    const waiting = live(`?watch=${RUN}:${size}`, 3);
    const bodies = iterationOf(1);
    for (const body of bodies) appendFileSync(journal, line(body));
    const first = await waiting;
    expect(first.map(({ data }) => (data as EntryUpdate).type)).toEqual(
      bodies.slice(0, 3).map(({ type }) => type),
    );
    const [run, offset] = String(first[2]?.id).split(":");
    expect(run).toBe(RUN);
    expect(readFileSync(journal).subarray(Number(offset)).toString()).toBe(
      bodies
        .slice(3)
        .map((body) => line(body))
        .join(""),
    );
    // The header of a browser that comes back counts more than the address that it first asked for.
    const rest = await live(`?watch=${RUN}:0`, bodies.length - 3, { "last-event-id": String(first[2]?.id) });
    expect(rest.map(({ data }) => (data as EntryUpdate).type)).toEqual(
      bodies.slice(3).map(({ type }) => type),
    );
  });
});

describe("an answer", () => {
  test("is kept for the question that was shown, and for no other", async () => {
    const { home, journal } = homeWith(EVENTS);
    const { get, post } = await dashboardOf(home);
    const asked = async () => ((await get("/api/overview")).json as Overview).rows[0]?.question;
    const before = await asked();
    // It went on meanwhile, and asks the same words again: that is another question.
    for (const body of [...iterationOf(3), blocked("Which one?", 3)]) appendFileSync(journal, line(body));
    const late = await post(`/api/runs/${RUN}`, {
      action: "answer",
      question: before?.id,
      text: "the first",
    });
    expect(late).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining("the question has changed") },
    });
    const now = await asked();
    const good = await post(`/api/runs/${RUN}`, { action: "answer", question: now?.id, text: "the second" });
    expect(good.status).toBe(200);
    expect(JSON.parse(readFileSync(join(home, "runs", RUN, "answer.json"), "utf8"))).toEqual({
      question: "Which one?",
      answer: "the second",
    });
    const third = await post(`/api/runs/${RUN}`, { action: "answer", question: now?.id, text: "the third" });
    expect(third).toMatchObject({ status: 409, json: { error: expect.stringContaining("somebody else") } });
  });

  test("bad wishes are refused whole", async () => {
    const { post } = await dashboardOf(homeWith(EVENTS).home);
    for (const wish of [
      {},
      "{",
      { action: "rm" },
      { action: "steer", text: " " },
      { action: "pause", more: 1 },
      { action: "raise", limits: { maxCost: -1 } },
    ])
      expect((await post(`/api/runs/${RUN}`, wish)).status).toBe(400);
  });
});
