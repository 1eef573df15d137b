import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM } from "../../package-folder.cjs";
import { writeAlone } from "../../records/files.js";
import { quoteWord } from "../../words.js";
import { patchSince } from "../../workspace/diff.js";
import type { RecipeContext, RecipeRow } from "../row.js";
import { pipelineRecipe } from "./pipeline.js";
import { asksForWork } from "./sealed.js";
import { BEFORE_FILE, PIPELINE_FILES, type PipelineSpec, type PipelineState } from "./spec.js";

export const pipeline: RecipeRow<PipelineSpec> = {
  create: (spec, context) =>
    pipelineRecipe(spec, {
      ...context,
      gateEnv: gateEnvironment(spec, context),
      patch: () => patchSince(context.workspace, context.base, [...context.hidden, ...spec.dirty]),
    }),
  checks: ({ states }) => states.map(({ command }) => command),
  commits: () => "agents",
  // A pipeline is the user's to change, and no agent's.
  protects: PIPELINE_FILES,
};

/** What the gates of a pipeline know. Their `ralph` is this one, wherever it is installed. */
function gateEnvironment(
  spec: PipelineSpec,
  { records, env }: RecipeContext,
): (state: PipelineState) => NodeJS.ProcessEnv {
  const { specFile, prpFile, testCommand } = spec;
  const bin = join(records, "bin");
  mkdirSync(bin, { recursive: true, mode: 0o700 });
  const script = `#!/bin/sh\nexec ${quoteWord(process.execPath)} ${quoteWord(PROGRAM)} "$@"\n`;
  writeAlone(join(bin, "ralph"), script, 0o700);
  return (state) => ({
    PATH: `${bin}:${env["PATH"] ?? ""}`,
    RALPH_STATE: state.name,
    RALPH_SPEC_FILE: specFile,
    RALPH_PRP_FILE: prpFile,
    ...(testCommand !== undefined && { RALPH_TEST_COMMAND: testCommand }),
    RALPH_BEFORE: join(records, BEFORE_FILE),
    RALPH_ONLY_NEW: asksForWork(spec, state) ? "1" : "",
  });
}
