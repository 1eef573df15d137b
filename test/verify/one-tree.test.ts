import { expect, it } from "vitest";
import type { LoopEventBody } from "../../src/events.js";
import type { Tree } from "../../src/tree.js";
import { type Check, notRun } from "../../src/verify/check.js";
import { runChecks } from "../../src/verify/schedule.js";

type Files = Record<string, string>;

/** Looks at these states of the files, one after the other, while checks with these results run. */
async function judge(looks: Files[], results: boolean[], own = new Set<string>()) {
  let [looked, ran] = [0, 0];
  const tree: Tree = {
    own,
    read: async () => {
      const files = looks[looked++] ?? {};
      return { word: JSON.stringify(files), content: "", files: () => new Map(Object.entries(files)) };
    },
  };
  const check: Check = {
    ...{ command: "c", timeoutMs: 1 },
    judge: async () => {
      const { event, ...more } = notRun(check, 1, "unchanged");
      const { skipped: _, ...ended } = event;
      return { ...more, event: { ...ended, passed: results[ran++] ?? false } };
    },
  };
  const violations: LoopEventBody[] = [];
  const { signal } = new AbortController();
  const setup = { workspace: "/", env: {}, redact: (text: string): string => text };
  const judging = runChecks([check], setup, { tree, iteration: 1, stop: signal, kill: signal });
  let step = await judging.next();
  for (; !step.done; step = await judging.next())
    if (step.value.type === "violation") violations.push(step.value);
  const { passed, why } = step.value?.[0]?.event ?? {};
  return { ran, looked, violations, passed, why, own };
}

const MOVED = "a changed while the checks ran, and not by them";

it("does not look again where a check failed", async () => {
  expect(await judge([{}, { a: "1" }], [false])).toMatchObject({
    ran: 1,
    looked: 1,
    passed: false,
  });
});

it("takes what a second pass writes again for the checks' own, and remembers it", async () => {
  const first = await judge([{}, { a: "1" }, { a: "2" }, { a: "2" }], [true, true]);
  expect(first).toMatchObject({ ran: 2, violations: [], passed: true });
  expect(await judge([{ a: "2" }, { a: "3" }], [true], first.own)).toMatchObject({ ran: 1 });
});

it("names what changed when the second pass fails on it", async () => {
  const { passed, violations } = await judge([{ a: "1" }, { a: "2" }, { a: "2" }], [true, false]);
  expect(passed).toBe(false);
  expect(violations).toEqual([
    { type: "violation", iteration: 1, what: `${MOVED}: the checks prove nothing`, file: "a" },
  ]);
});

it("believes no second pass during which other files changed", async () => {
  const looks = [{ b: "1" }, { b: "2" }, { a: "1", b: "2" }];
  expect(await judge(looks, [true, true])).toMatchObject({ passed: false, why: MOVED });
});

it("does not take files for the checks' own that go on changing without them", async () => {
  const looks = [{ a: "1" }, { a: "2" }, { a: "3" }, { a: "4" }];
  expect(await judge(looks, [true, true])).toMatchObject({ passed: false, why: MOVED });
});
