import type { Recipe } from "../loop/recipe.js";
import { iterationFolder } from "../records/runs.js";
import type { Schedule } from "../verify/schedule.js";
import type { Asker } from "./asker.js";
import { programsOf } from "./git-trust.js";
import type { RunContext } from "./run-context.js";
import type { RunSpec } from "./spec.js";

/** Each recipe is loaded when it is used. */
export async function recipeOf(
  spec: RunSpec,
  context: RunContext,
  { askForCommitMessage }: Asker,
  hidden: string[],
): Promise<Recipe> {
  const { workspace, recipe } = spec;
  const schedule = await scheduleOf(spec, context);
  const newPrograms = await programsOf(spec, context);
  switch (recipe.kind) {
    case "prompt": {
      const { promptRecipe } = await import("../recipes/prompt/prompt.js");
      return promptRecipe(recipe, { ...context, workspace, schedule, askForCommitMessage, newPrograms });
    }
    case "repeat": {
      const { repeatRecipe } = await import("../recipes/prompt/repeat.js");
      return repeatRecipe(recipe);
    }
    case "checks": {
      const { checksRecipe } = await import("../recipes/checks/checks.js");
      const { diffSince } = await import("../workspace/diff.js");
      return checksRecipe(recipe, {
        ...context,
        workspace,
        schedule,
        records: context.folder.path,
        folderFor: (iteration) => iterationFolder(context.folder, iteration),
        diff: () => diffSince(workspace, spec.base, hidden, context.signals.kill),
      });
    }
    case "stories": {
      const { storiesRecipe } = await import("../recipes/stories/stories.js");
      return storiesRecipe(recipe, {
        ...context,
        workspace,
        // No run over stories begins outside of one.
        inRepository: true,
        schedule,
        isShutIn: spec.sandbox !== undefined && spec.sandbox.kind !== "none",
        records: context.folder.path,
        folderFor: (iteration) => iterationFolder(context.folder, iteration),
      });
    }
    case "pipeline": {
      const { pipelineRecipe } = await import("../recipes/pipeline/pipeline.js");
      const { gateEnvironment } = await import("./gate-environment.js");
      const { patchSince } = await import("../workspace/diff.js");
      return pipelineRecipe(recipe, {
        ...context,
        workspace,
        records: context.folder.path,
        folderFor: (iteration) => iterationFolder(context.folder, iteration),
        newPrograms,
        gateEnv: gateEnvironment(recipe, context),
        patch: () => patchSince(workspace, spec.base, [...hidden, ...recipe.dirty]),
      });
    }
  }
}

/** undefined: the checks run one after the other in their order, as nobody asked for anything else. */
async function scheduleOf(
  { checks, recipe, workspace }: RunSpec,
  { folder }: RunContext,
): Promise<Schedule | undefined> {
  const haveInputs = recipe.kind === "prompt" && recipe.guardrails.some(({ inputs }) => inputs !== undefined);
  if (checks === undefined && !haveInputs) return undefined;
  const { createSchedule } = await import("../verify/speed.js");
  return createSchedule(checks ?? {}, { workspace, records: folder.path });
}
