import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../kit.js";
import { allCases, type Case } from "./cases.js";
import { judged } from "./judge.js";
import { canWrite, WRITERS } from "./streams.js";

const README = join(import.meta.dirname, "../../README.md");
const CASES = allCases();
/** Cases that were not judged as they are labelled. */
const mistaken = new Set<Case>();

it("every case is judged as it is labelled, for every agent that can write it", async () => {
  const mistakes: string[] = [];
  const waiting = [...CASES];
  // While one case waits for git or a check, the others go on.
  const play = async (root: string): Promise<void> => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop())
      for (const agent of agentsOf(one)) mistakes.push(...(await mistakesIn(one, agent, root)));
  };
  await Promise.all(Array.from({ length: 4 }, () => play(temporaryFolder())));
  console.log(figures());
  expect(mistakes).toEqual([]);
}, 600_000);

it("the README has the figures of today", () => {
  const [sentence] = /\d+ of \d+ labelled cases[^;]*/.exec(readFileSync(README, "utf8")) ?? [];
  expect(sentence).toBe(figures());
});

it("every case is there once, and some agent can write it", () => {
  const names = CASES.map(({ file: _, expected: __, calls, ...one }) =>
    JSON.stringify({
      ...one,
      calls: calls.map((steps) => steps.map(({ verb, text }) => [verb, text.slice(-99)])),
    }),
  );
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
  expect(CASES.filter((one) => agentsOf(one).length === 0).map(({ name }) => name)).toEqual([]);
});

function agentsOf({ agents, mode, calls }: Case): string[] {
  const able = (agent: string): boolean =>
    calls.every((steps) => canWrite(mode === "text" ? "command" : agent, steps));
  return (agents ?? Object.keys(WRITERS)).filter(able);
}

async function mistakesIn(one: Case, agent: string, root: string): Promise<string[]> {
  const { verdict, because } = await judged(one, agent, root);
  const { expected } = one;
  const isRight = verdict === expected.verdict && (because ?? "").includes(expected.because ?? "");
  if (isRight) return [];
  mistaken.add(one);
  return [`${one.file}: ${one.name.slice(0, 100)} (${agent}): ${verdict}: ${because}`];
}

function figures(): string {
  const of = (verdict: string): number => CASES.filter(({ expected }) => expected.verdict === verdict).length;
  const streams = CASES.reduce((sum, one) => sum + agentsOf(one).length, 0);
  const [done, open, limits, errors] = [of("done"), of("not done"), of("limit"), of("error")];
  return (
    `${CASES.length - mistaken.size} of ${CASES.length} labelled cases right (${done} done, ${open} not done, ${limits} usage limits, ` +
    `${errors} errors), in ${streams.toLocaleString("en")} streams of six kinds of agents`
  );
}
