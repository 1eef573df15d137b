import { expect, it } from "vitest";
import type { Recipe } from "../../src/loop/recipe.js";
import { withProtection } from "../../src/recipes/protected.js";

const NOTHING = {
  begin: async () => [],
  undo: async () => [],
  end() {},
  isOpen: () => false,
  release() {},
  spoiled: async () => undefined,
  spoiledBy: () => [],
};

it.each([
  [null, null],
  ["Do it.", expect.stringMatching(/^Do it\.\n\nProtected files: tests/)],
])("a plan that asks %j asks the same beside the rule", async (prompt, expected) => {
  const recipe: Recipe = {
    name: "x",
    verifies: true,
    plan: async () => ({ prompt, mode: "A" }),
    async *verify() {
      return undefined;
    },
  };
  const guarded = withProtection(recipe, NOTHING, ["tests/**"]);
  const context = { iteration: 1, maxIterations: 1, memory: undefined, answered: false };
  expect(await guarded.plan(context)).toEqual({ prompt: expected, mode: "A" });
});
