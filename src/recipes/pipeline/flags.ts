import { statSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { RalphError } from "../../errors.js";
import { DEFAULT_LIMITS, saysSomething, wholeNumber } from "../../settings/limits.js";
import { git, repositoryRoot } from "../../workspace/git.js";
import { uncommittedFiles } from "../../workspace/uncommitted.js";
import { readTextFile } from "../text-file.js";
import { prpFileFor } from "./gates/gate.js";
import type { PipelinePosition } from "./moves.js";
import { loadPipeline, ownPipeline, type Pipeline } from "./pipeline-file.js";
import { isPipelineAsSeen } from "./sealed.js";
import type { PipelineSpec } from "./spec.js";

export interface PipelineFlags {
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
  const specFile = fileInProject(origin, given);
  const text = readTextFile("spec", specFile, origin);
  const prpFile = prpFileFor(specFile);
  const testCommand = command === undefined ? undefined : saysSomething("--test-command", command);
  const pipeline = { ...(await loadPipeline(origin, { specFile, prpFile, testCommand })), ...retries(flags) };
  if (worktree !== undefined && !isPlan) await refuseUncommitted(origin, specFile, text);
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

/** A path within the project is the same in a worktree of it. */
function fileInProject(origin: string, file: string): string {
  const path = relative(origin, resolve(origin, file));
  return path.startsWith("..") || isAbsolute(path) ? resolve(origin, file) : path;
}

/** The spec itself may be mended, and is committed then. */
async function dirtyFiles(origin: string, specFile: string): Promise<string[]> {
  const root = repositoryRoot(origin);
  if (root === undefined) return [];
  const own = relative(root, resolve(origin, specFile));
  return ((await uncommittedFiles(origin)) ?? []).filter((file) => file !== own);
}

/** What is not committed is not in a new worktree. */
async function refuseUncommitted(origin: string, specFile: string, text: string): Promise<void> {
  const { ok, stdout } = await git(origin, ["show", `HEAD:./${specFile}`]);
  if (ok && stdout === text) return;
  throw new RalphError(`${specFile} is not committed as it is, so a worktree would not have it`, {
    code: "spec_uncommitted",
    hint: `git add ${specFile} && git commit -m "Spec"`,
  });
}

/** Where a pipeline stopped: the last event, and the position that it left behind. */
interface Stopped {
  origin?: string | undefined;
  workspace: string;
  position: PipelinePosition | undefined;
  lastSeenAt: string;
}

/**
 * The pipeline of a run that goes on. A person may have mended its file, too: `changed` is that file, if it counts
 * and asks for something else now.
 */
export async function specNow(
  recipe: PipelineSpec,
  flags: PipelineFlags,
  stopped: Stopped,
): Promise<{ now: PipelineSpec; changed?: string }> {
  const { origin, workspace, position } = stopped;
  const project = origin ?? workspace;
  const own = ownPipeline(project);
  const counts = own !== undefined && (origin !== undefined || isChangedByHand(project, own, stopped));
  const { states } = counts ? await loadPipeline(project, recipe) : recipe;
  const now = { ...recipe, ...retries(flags), states };
  if (position !== undefined && states.every(({ name }) => name !== position.state))
    throw new RalphError(
      `the pipeline stopped at ${position.state}, and the pipeline has no such state now`,
      {
        code: "pipeline_state_unknown",
        hint: "put it back, or begin anew with ralph pipeline run",
      },
    );
  const isSame = JSON.stringify(states) === JSON.stringify(recipe.states);
  return { now, ...(own !== undefined && !isSame && { changed: own }) };
}

/** What an agent made of the file while the run was at work does not count, also where a kill has ended both. */
function isChangedByHand(project: string, own: string, { position, lastSeenAt }: Stopped): boolean {
  if (position !== undefined && isPipelineAsSeen(project, position.sealed)) return false;
  return !(statSync(join(project, own)).ctimeMs <= Date.parse(lastSeenAt));
}
