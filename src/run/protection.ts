import type { LoopEventBody } from "../events.js";
import type { Recipe } from "../loop/recipe.js";
import { recipeRow } from "../recipes/registry.js";
import type { RecipeContext } from "../recipes/row.js";
import { iterationFolder } from "../records/runs.js";
import type { RunContext } from "./context.js";

/** Keeps the protected files of a run as they are. */
export interface RunProtection {
  around(recipe: Recipe): Recipe;
  /** Asked after each check: why it does not count. */
  spoiled?: RecipeContext["spoiled"];
  /** Undoes what an agent did that was cut off. */
  settle(iteration: number): AsyncGenerator<LoopEventBody, void>;
  /** The same before a long wait, and then takes the files as the user leaves them. */
  handOver(iteration: number): AsyncGenerator<LoopEventBody, void>;
  /** Whoever pauses a run may change files. */
  sawPause(isPaused: boolean): boolean;
}

export async function protectionOf({ spec, folder }: RunContext): Promise<RunProtection> {
  const { protect: given = [], recipe, workspace } = spec;
  const protect = [...given, ...((await recipeRow(recipe)).protects ?? [])];
  if (protect.length === 0) return NONE;
  const { createProtection } = await import("../verify/protected/protection.js");
  const { violationOf, withProtection } = await import("../recipes/protected.js");
  const folderFor = (iteration: number): string => iterationFolder(folder, iteration);
  const protection = createProtection(protect, { workspace, records: folder.path, folderFor });
  async function* settle(iteration: number): AsyncGenerator<LoopEventBody, void> {
    if (!protection.isOpen()) return;
    const undone = await protection.undo(iteration);
    yield* undone.map((one) => violationOf(one, iteration));
    protection.end();
  }
  return {
    around: (recipe) => withProtection(recipe, protection, protect),
    spoiled: protection.spoiled,
    settle,
    async *handOver(iteration) {
      yield* settle(iteration);
      protection.release();
    },
    sawPause(isPaused) {
      if (isPaused) protection.release();
      return isPaused;
    },
  };
}

const NONE: RunProtection = {
  around: (recipe) => recipe,
  async *settle() {},
  async *handOver() {},
  sawPause: (isPaused) => isPaused,
};
