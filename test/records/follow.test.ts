import { appendFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { acquireLock } from "../../src/records/lock.js";
import { followJournal } from "../../src/records/read.js";
import { createRunFolder } from "../../src/records/runs.js";
import { LIMITS, temporaryFolder } from "../kit.js";

const said = (text: string): LoopEvent => ({
  ...{ v: 1, ts: "2026-01-26T18:55:00.000Z", run: "a" },
  ...{ type: "agent.event", iteration: 1, event: { type: "text", text } },
});
const line = (text: string): string => `${JSON.stringify(said(text))}\n`;
const textOf = (event: LoopEvent | undefined): string =>
  event?.type === "agent.event" && event.event.type === "text" ? event.event.text : "";

/** A journal, and someone who reads it until `end`. */
function followed(content: string) {
  const path = join(temporaryFolder(), "journal.ndjson");
  writeFileSync(path, content);
  let isOver = false;
  const events = followJournal(path, 0, () => isOver);
  return {
    path,
    next: async () => textOf((await events.next()).value?.event),
    async rest() {
      isOver = true;
      const texts: string[] = [];
      for await (const { event } of events) texts.push(textOf(event));
      return texts;
    },
  };
}

test("events come as they are written, each with where the next one begins", async () => {
  const home = temporaryFolder();
  const run = createRunFolder(home, "a");
  const spec = {
    v: 1,
    createdAt: "",
    workspace: home,
    recipe: { kind: "prompt" },
    agent: { name: "x", words: [] },
  };
  writeFileSync(run.specFile, JSON.stringify({ ...spec, limits: LIMITS }));
  const lock = acquireLock(home, { workspace: home }, "a");
  const events = run.follow();
  writeFileSync(run.journal, line("é") + line("two"));
  const [first, second] = [(await events.next()).value, (await events.next()).value];
  expect([first, second]).toEqual([
    { event: said("é"), offset: Buffer.byteLength(line("é")) },
    { event: said("two"), offset: Buffer.byteLength(line("é") + line("two")) },
  ]);
  appendFileSync(run.journal, line("three"));
  expect(textOf((await events.next()).value?.event)).toBe("three");
  lock.release();
  expect(await events.next()).toEqual({ value: undefined, done: true });
  const again = run.follow({ from: first?.offset ?? 0 });
  expect(textOf((await again.next()).value?.event)).toBe("two");
});

test("a torn line is waited for, and a damaged one passed over", async () => {
  const { path, next, rest } = followed(`${line("one")}{damaged}\n${line("two").slice(0, 20)}`);
  expect(await next()).toBe("one");
  const two = next();
  appendFileSync(path, line("two").slice(20));
  expect(await two).toBe("two");
  expect(await rest()).toEqual([]);
});

test("a torn line that is cut off is forgotten", async () => {
  const { path, next, rest } = followed(line("one") + line("torn").slice(0, 20));
  expect(await next()).toBe("one");
  truncateSync(path, line("one").length);
  appendFileSync(path, line("two") + line("three"));
  expect(await rest()).toEqual(["two", "three"]);
});

test("of a journal that was repaired, what was told is not told again", async () => {
  const { path, next, rest } = followed(`${line("one")}{damaged}\n${line("two")}`);
  expect([await next(), await next()]).toEqual(["one", "two"]);
  writeFileSync(`${path}.repaired`, line("one") + line("two") + line("three"));
  renameSync(`${path}.repaired`, path);
  expect(await rest()).toEqual(["three"]);
});
