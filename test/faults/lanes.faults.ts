import { expect, test } from "vitest";
import { killedAt, threeLanes } from "../lanes/kills.js";
import { PARALLEL } from "../lanes/kit.js";
import { journalOf } from "./ending.js";
import { eachOf } from "./harness.js";

test("three lanes: killed at any event, the same stories land, each once, at the same cost", async () => {
  const p = threeLanes();
  await p.ralph(...PARALLEL, "3");
  const lines = journalOf(p).length;
  const found: Record<string, unknown> = {};
  const points = Array.from({ length: lines }, (_, at) => `${at + 1} ${["after", "torn", "before"][at % 3]}`);
  await eachOf(points, 2, async (point) => {
    const wrong = await killedAt(point);
    if (wrong !== undefined) found[point] = wrong;
  });
  expect(found).toEqual({});
});
