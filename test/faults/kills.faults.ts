import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eachOf, type KillPoint, killed, killedAfter, killPoints, undisturbed } from "./harness.js";
import { SCRIPTS } from "./scripts.js";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/internals/faults.md"), "utf8");
const AT_ONCE = 4;

test.each(SCRIPTS)("$name: killed at any event, it ends as if nothing had been", async (script) => {
  const whole = await undisturbed(script);
  const points = killPoints(whole.events);
  const found: Record<string, string[]> = {};
  await eachOf(points, AT_ONCE, async (point) => {
    const differences = await killed(script, point, whole);
    if (differences.length > 0) found[nameOf(point, whole.events[point.line - 1]?.type)] = differences;
  });
  expect(found).toEqual({});
  // The page tells what was tried: it is checked here.
  expect(PAGE).toContain(`| ${script.name} | ${whole.events.length} | ${points.length} | 0 |`);
});

const MOMENTS = 12;

test.each(SCRIPTS.filter(({ worker }) => worker === undefined))(
  "$name: killed at any moment, it ends as if nothing had been",
  async (script) => {
    const whole = await undisturbed(script);
    const moments = Array.from({ length: MOMENTS }, (_, at) => Math.round((at * whole.durationMs) / MOMENTS));
    const found: Record<string, string[]> = {};
    await eachOf(moments, AT_ONCE, async (ms) => {
      const differences = await killedAfter(script, ms, whole);
      if (differences.length > 0) found[`after ${ms} ms`] = differences;
    });
    expect(found).toEqual({});
  },
);

const nameOf = ({ line, side }: KillPoint, type = ""): string => `${side} ${type}, line ${line}`;
