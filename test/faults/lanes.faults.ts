import { expect, test } from "vitest";
import { killedAt, threeInConflict, threeLanes } from "../lanes/kills.js";
import { PARALLEL } from "../lanes/kit.js";
import { journalOf } from "./ending.js";
import { eachOf } from "./harness.js";

test.each([
  ["three lanes", threeLanes],
  ["three lanes in conflict", threeInConflict],
])("%s: killed at any event, the same stories land, each once, at the same cost", async (_, make) => {
  const p = make();
  await p.ralph(...PARALLEL, "3");
  const lines = journalOf(p).length;
  const found: Record<string, unknown> = {};
  const points = Array.from({ length: lines }, (_, at) => `${at + 1} ${["after", "torn", "before"][at % 3]}`);
  await eachOf(points, 2, async (point) => {
    const wrong = await killedAt(point, make);
    if (wrong !== undefined) found[point] = wrong;
  });
  expect(found).toEqual({});
});

const MOMENTS = Number(process.env["LANE_MOMENTS"] ?? 24);

test("three lanes, killed at any moment: the same stories land, each once, at the same cost", async () => {
  const p = threeLanes();
  const begun = performance.now();
  await p.start([...PARALLEL, "3"]).result;
  const all = performance.now() - begun;
  const found: Record<string, unknown> = {};
  const moments = Array.from({ length: MOMENTS }, (_, at) => Math.round(((at + 0.5) * all) / MOMENTS));
  await eachOf(moments, 2, async (ms) => {
    const wrong = await killedAt(ms);
    if (wrong !== undefined) found[`after ${ms} ms`] = wrong;
  });
  expect(found).toEqual({});
});
