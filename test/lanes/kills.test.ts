import { expect, test } from "vitest";
import { killedAt } from "./kills.js";

// A sample; all of them: npm run test:faults.
test.each([
  ["lane.started after"],
  ["landing.started after"],
  // The branch has moved, and nobody has written that down.
  ["landing.landed before"],
  ["landing.cleaned before"],
])("three lanes, killed at %s: the same stories land, each once, at the same cost", async (at) => {
  expect(await killedAt(at)).toBeUndefined();
});
