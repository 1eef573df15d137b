import { statSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { RalphError } from "../../errors.js";
import { DEFAULT_LIMITS, saysSomething, wholeNumber } from "../../settings/limits.js";
import { repositoryRoot } from "../../workspace/git.js";
import { uncommittedFiles } from "../../workspace/uncommitted.js";
import { type CheckFlags, checkTimeoutFrom } from "../checks.js";
import { readTextFile, refuseUncommitted } from "../prompt.js";
import { prpFileFor } from "./gates/gate.js";
import { loadPipeline, ownPipeline, type Pipeline } from "./pipeline-file.js";
import type { PipelineSpec } from "./spec.js";

export interface PipelineFlags extends Pick<CheckFlags, "checkTimeout"> {
  maxGateRetries?: string | undefined;
  testCommand?: string;
  worktree?: string | boolean;
}

/** What flags and the project's own pipeline ask for; `isPlan`: nothing will be run. */
export async function pipelineSpec(
  given: string,
  flags: PipelineFlags,
  origin: string,
  isPlan: boolean,
): Promise<PipelineSpec> {
  const { testCommand: command, worktree } = flags;
  const path = relative(origin, resolve(origin, given));
  // A path within the project is the same in a worktree of it.
  const specFile = path.startsWith("..") || isAbsolute(path) ? resolve(origin, given) : path;
  readTextFile("spec", specFile, origin);
  const prpFile = prpFileFor(specFile);
  const testCommand = command === undefined ? undefined : saysSomething("--test-command", command);
  const checkTimeoutMs = checkTimeoutFrom(flags);
  const loaded = await loadPipeline(origin, { specFile, prpFile, testCommand, checkTimeoutMs });
  const pipeline = { ...loaded, ...retries(flags), checkTimeoutMs };
  const hint = `git add ${specFile} && git commit -m "Spec"`;
  if (worktree !== undefined && !isPlan)
    await refuseUncommitted(origin, specFile, { code: "spec_uncommitted", hint });
  const dirty = worktree === undefined && !isPlan ? await dirtyFiles(origin, specFile) : [];
  return { kind: "pipeline", specFile, prpFile, ...pipeline, dirty };
}

function retries({ maxGateRetries: given }: PipelineFlags): Partial<Pipeline> {
  return given === undefined ? {} : { maxGateRetries: wholeNumber("--max-gate-retries", given, 0) };
}

/** Every state may use up its retries, after a gate that looks first; agents that fail are counted by another limit. */
export function enoughFor({ states, maxGateRetries }: Pick<Pipeline, "states" | "maxGateRetries">): number {
  return states.length * (maxGateRetries + 1) + DEFAULT_LIMITS.maxFailures;
}

/** The spec itself may be mended, and is committed then. */
async function dirtyFiles(origin: string, specFile: string): Promise<string[]> {
  const root = repositoryRoot(origin);
  if (root === undefined) return [];
  const own = relative(root, resolve(origin, specFile));
  return ((await uncommittedFiles(origin)) ?? []).filter((file) => file !== own);
}

/** The pipeline of a run that goes on, from what its journal tells. `changed`: its file, if a person has mended it. */
export async function specNow(
  recipe: PipelineSpec,
  flags: PipelineFlags,
  run: { origin?: string | undefined; workspace: string; state: string | undefined; lastSeenAt: string },
): Promise<{ now: PipelineSpec; changed?: string }> {
  const project = run.origin ?? run.workspace;
  const own = ownPipeline(project);
  // What an agent made of the file while the run was at work does not count.
  const isChangedByHand = (file: string): boolean =>
    !(statSync(join(project, file)).ctimeMs <= Date.parse(run.lastSeenAt));
  const counts = own !== undefined && (run.origin !== undefined || isChangedByHand(own));
  const { states } = counts ? await loadPipeline(project, recipe) : recipe;
  if (run.state !== undefined && states.every(({ name }) => name !== run.state))
    throw new RalphError(`the pipeline stopped at ${run.state}, and the pipeline has no such state now`, {
      code: "pipeline_state_unknown",
      hint: "put it back, or start again with ralph pipeline run",
    });
  const isSame = JSON.stringify(states) === JSON.stringify(recipe.states);
  const now = { ...recipe, ...retries(flags), states };
  return { now, ...(own !== undefined && !isSame && { changed: own }) };
}
