import { statSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../errors.js";
import { type PipelinePosition, positionIn } from "../../recipes/pipeline/moves.js";
import { loadPipeline, ownPipeline } from "../../recipes/pipeline/pipeline-file.js";
import { isPipelineAsSeen } from "../../recipes/pipeline/sealed.js";
import type { PipelineSpec } from "../../recipes/pipeline/spec.js";
import { ownMemory } from "../../recipes/protected.js";
import { ralphHome } from "../../records/home.js";
import { type RunSpec, readSpec } from "../../run/spec.js";
import { wholeNumber } from "../../settings/limits.js";
import { harmlessLine } from "../../views/harmless.js";
import { currentRun } from "../find-run.js";
import { resume as resumeRun } from "../resume.js";
import type { ResumeFlags as RunFlags } from "../start-run.js";
import { enoughFor } from "./run.js";

export interface ResumeFlags extends RunFlags {
  maxGateRetries?: string;
}

/** `ralph pipeline resume`: goes on at the state where the pipeline of this folder stopped. */
export async function resume(flags: ResumeFlags): Promise<number> {
  const folder = currentRun(ralphHome(), process.cwd(), "pipeline");
  const spec = readSpec(folder);
  if (spec.recipe.kind !== "pipeline") throw otherRun(folder.id);
  const state = folder.state();
  const position = positionIn(ownMemory(state?.memory));
  const stopped = { position, lastSeenAt: state?.lastSeenAt ?? "" };
  const recipe = await asItIsNow(spec, spec.recipe, flags, stopped);
  checkState(recipe, position?.state);
  const iterations = (state?.iterations ?? 0) + enoughFor(recipe);
  const { maxGateRetries: _, ...others } = flags;
  if (!flags.quiet)
    process.stderr.write(
      `ralph: resuming run ${folder.id}, the pipeline for ${harmlessLine(recipe.specFile)}\n`,
    );
  const limits = { maxIterations: String(Math.max(iterations, spec.limits.maxIterations)), ...others };
  return resumeRun(folder.id, limits, recipe);
}

/** Whoever goes on by hand may have mended the pipeline, too. */
async function asItIsNow(
  { origin, workspace }: RunSpec,
  recipe: PipelineSpec,
  { maxGateRetries: retries }: ResumeFlags,
  stopped: Stopped,
): Promise<PipelineSpec> {
  const max = retries === undefined ? {} : { maxGateRetries: wholeNumber("--max-gate-retries", retries, 0) };
  const project = origin ?? workspace;
  const own = ownPipeline(project);
  if (own === undefined) return { ...recipe, ...max };
  if (origin === undefined && !isChangedByHand(project, own, stopped)) return { ...recipe, ...max };
  const { states } = await loadPipeline(project, recipe);
  if (JSON.stringify(states) !== JSON.stringify(recipe.states))
    process.stderr.write(`ralph: ${own} was changed since the run began: it counts as it is now\n`);
  return { ...recipe, ...max, states };
}

interface Stopped {
  position: PipelinePosition | undefined;
  /** The last event. */
  lastSeenAt: string;
}

/** What an agent made of the file while the run was at work does not count, also where a kill has ended both. */
function isChangedByHand(project: string, own: string, { position, lastSeenAt }: Stopped): boolean {
  if (position !== undefined && isPipelineAsSeen(project, position.sealed)) return false;
  return !(statSync(join(project, own)).ctimeMs <= Date.parse(lastSeenAt));
}

function checkState({ states }: PipelineSpec, state: string | undefined): void {
  if (state === undefined || states.some(({ name }) => name === state)) return;
  throw new RalphError(`the pipeline stopped at ${state}, and the pipeline has no such state now`, {
    code: "pipeline_state_unknown",
    hint: "put it back, or begin anew with ralph pipeline run",
  });
}

function otherRun(id: string): RalphError {
  return new RalphError(`run ${id} is at work here, and is no pipeline`, {
    code: "run_unknown",
    hint: `ralph resume ${id} goes on with it, if it is paused`,
  });
}
