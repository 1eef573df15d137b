import { describe, expect, test } from "vitest";
import { passedLimit, shareOf } from "../../src/lanes/lanes.js";
import { laneNames, listFor, type StoriesSetup, textsIn } from "../../src/lanes/list.js";
import { ranking } from "../../src/lanes/race.js";
import { mergedProgress, mergedTasks, type Returned, reopened, takeOver } from "../../src/lanes/returned.js";
import { namesFile } from "../../src/lanes/stories.js";
import { createSlots, createStreams, told } from "../../src/lanes/streams.js";
import { initialState, type RunState } from "../../src/records/run-state.js";
import { createProject, LIMITS } from "../kit.js";

const loop = (more: Partial<RunState>): RunState => ({ ...initialState("r"), status: "finished", ...more });

test.each([
  ["git merge ralph/r", { kind: "conflict", old: "", files: [], said: "", diffs: { target: "", tip: "" } }],
  ["git merge ralph/r; make these checks pass", { kind: "red", old: "", new: "", checks: [] }],
  ["git merge ralph/r", { kind: "lost", old: "", new: "", lines: [], gone: ["US-001"] }],
] satisfies [string, Returned][])("a person takes a lane over with: %s", (mend, result) => {
  const lane = { state: loop({}), worktree: "/lane" };
  expect(takeOver(lane, "ralph/r", "otter", result)).toBe(
    `take over: cd /lane; ${mend}; commit; ralph resume otter`,
  );
});

describe("limits that lanes share", () => {
  const others = [loop({ costUsd: 1, inputTokens: 10, outputTokens: 5, iterations: 2, activeMs: 1000 })];

  test("a lane gets what the others leave, also of what their agents at work have told", () => {
    const live = [{ inputTokens: 3, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0.5 }];
    const atWork = { results: undefined, resultCostUsd: undefined, live };
    const limits = { ...LIMITS, maxCostUsd: 5, maxTokens: 100, maxTimeMs: 9000 };
    expect(shareOf(limits, [...others, loop({ atWork })], 0)).toEqual({
      ...{ ...limits, maxIterations: 8, maxCostUsd: 3.5, maxTokens: 80, maxTimeMs: 8000 },
    });
    expect(passedLimit({ ...LIMITS, maxCostUsd: 1.4 }, [...others, loop({ atWork })], 0)).toBe(
      "budget_exhausted",
    );
  });

  test.each([
    [{ maxCostUsd: 0.9 }, "budget_exhausted"],
    [{ maxTokens: 14 }, "budget_exhausted"],
    [{ maxTimeMs: 999 }, "timeout"],
    [{ maxCostUsd: 1, maxTokens: 15, maxTimeMs: 1000 }, undefined],
    [{}, undefined],
  ])("%o", (limits, expected) => {
    expect(passedLimit({ ...LIMITS, ...limits }, others, 0)).toBe(expected);
  });
});

describe("the files of the stories", () => {
  const story = (id: string, more = {}) => ({
    ...{ id, title: id, acceptanceCriteria: ["c"], priority: 1, passes: false, reviewStatus: null },
    ...{ reviewCount: 0, reviewFeedback: "", notes: "", ...more },
  });
  const list = (...userStories: unknown[]) =>
    JSON.stringify({ project: "p", branchName: "b", description: "", userStories });
  const done = { passes: true, reviewStatus: "approved", notes: "done" };

  test("those that git could not read are read again", async () => {
    const p = createProject();
    p.sh("git clone -q . ../other && cd ../other && mkdir ralph && echo list > ralph/tasks.json");
    p.sh("cd ../other && git add . && git commit -qm list");
    const commit = p.sh("git -C ../other rev-parse HEAD").trim();
    const setup = { repository: p.dir, spec: { dir: "ralph" } } as StoriesSetup;
    const stories = listFor(setup, initialState("r"));
    const tasks = async (): Promise<unknown> => (await textsIn(stories, commit))["ralph/tasks.json"];
    expect(await tasks()).toBe("");
    p.sh("git fetch -q ../other");
    expect(await tasks()).toBe("list\n");
  });

  test("nothing but the lane's own story is taken from its list", () => {
    const target = list(story("A", done), story("B"));
    const tip = list(story("A", { title: "renamed" }), story("B", done), story("C"));
    expect(JSON.parse(mergedTasks(target, tip, "B")).userStories).toEqual([
      story("A", done),
      story("B", done),
    ]);
  });

  test.each([
    ["is no list", "{"],
    ["has no such story", list(story("A"))],
    ["has a story that is none", list({ id: "B" })],
  ])("a list of a lane that %s changes nothing", (_, tip) => {
    const target = list(story("A"), story("B"));
    expect(mergedTasks(target, tip, "B")).toBe(target);
  });

  test("a story that is reopened has to be worked on and reviewed anew", () => {
    expect(JSON.parse(reopened(list(story("A", done)), "A")).userStories).toEqual([
      story("A", { notes: "done" }),
    ]);
  });

  test.each([
    ["what was appended", "a\n", "a\nx\n", "a\ny\n", "a\nx\ny\n"],
    ["lines that were added elsewhere", "a\nb\n", "a\nb\nx\n", "n\na\nb\n", "a\nb\nx\nn\n"],
    ["nothing where lines were taken away", "a\nb\n", "a\nb\nx\n", "a\n", "a\nb\nx\n"],
    ["a last line without an end", "a", "a", "a\ny", "a\ny\n"],
  ])("of progress: %s", (_, base, target, tip, expected) => {
    expect(mergedProgress(base, target, tip)).toBe(expected);
  });
});

test("every story has a lane whose name git and every disk take", () => {
  const names = laneNames([{ id: "US-001" }, { id: "us-001" }, { id: "a b/c" }, { id: "../x" }, { id: "é" }]);
  expect([...names.values()]).toEqual(["US-001", "us-001-2", "a-b-c", "x", "story"]);
});

test.each([
  ["Change src/app.ts.", "src/app.ts", true],
  ["Change src/app.tsx", "src/app.ts", false],
  ["See lib/src/app.ts", "src/app.ts", false],
  ["(README.md)", "README.md", true],
])("%s names %s: %s", (text, file, expected) => {
  expect(namesFile(text, file)).toBe(expected);
});

test("of those that passed, the fewest changed lines come first, then the lowest cost that is known", () => {
  const state = initialState("r");
  const costs = { a: 1, b: 0.5, c: null, d: 9 };
  state.lanes = Object.fromEntries(
    Object.entries(costs).map(([name, costUsd]) => [name, { state: loop({ costUsd }) }]),
  );
  const sizes = new Map(Object.entries({ a: 5, b: 5, c: 5, d: 1 }));
  expect(ranking(["c", "a", "b", "d"], sizes, state)).toEqual(["d", "b", "a", "c"]);
});

describe("several streams", () => {
  test("a stream goes on only when its last event was taken; the others do not wait for it", async () => {
    const seen: string[] = [];
    async function* stream(name: string) {
      for (const number of [1, 2]) {
        seen.push(`${name}${number}`);
        yield `${name}${number}`;
      }
    }
    const streams = createStreams<string>();
    streams.add("a", stream("a"));
    streams.add("b", stream("b"));
    expect(await streams.next(1000)).toEqual({ name: "a", event: "a1" });
    expect(await streams.next(1000)).toEqual({ name: "b", event: "b1" });
    expect(seen).toEqual(["a1", "b1"]);
    streams.goOn("b");
    expect(await streams.next(1000)).toEqual({ name: "b", event: "b2" });
    expect(seen).toEqual(["a1", "b1", "b2"]);
  });

  test("what an action tells is taken before it continues", async () => {
    const log: string[] = [];
    const events = told<string, string>(async (tell) => {
      await tell("one");
      log.push("after one");
      return "done";
    });
    expect(await events.next()).toEqual({ done: false, value: "one" });
    expect(log).toEqual([]);
    expect(await events.next()).toEqual({ done: true, value: "done" });
    expect(log).toEqual(["after one"]);
  });

  test("a lane that waits for a slot gets the one that is given back", async () => {
    const slots = createSlots(1);
    expect([await slots.take(), slots.areFree()]).toEqual([0, false]);
    const next = slots.take();
    slots.give(0);
    expect([await next, slots.areFree()]).toEqual([0, false]);
  });
});
