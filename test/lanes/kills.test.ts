import { expect, test } from "vitest";
import { killedAt, threeInConflict } from "./kills.js";

// A sample; all of them: npm run test:faults.
test.each([
  ["lane.started after"],
  // An agent has committed its work, and nobody has heard the end of it.
  ["agent.finished before"],
  ["landing.started after"],
  // The branch has moved, and nobody has written that down.
  ["landing.landed before"],
  ["landing.landed after"],
])("three lanes, killed at %s: the same stories land, each once, at the same cost", async (at) => {
  expect(await killedAt(at)).toBeUndefined();
});

test.each(["lane.returned after", "landing.refused before"])(
  "three lanes in conflict, killed at %s: the lines of all of them land",
  async (at) => {
    expect(await killedAt(at, threeInConflict)).toBeUndefined();
  },
);
