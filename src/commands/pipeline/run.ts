import { isAbsolute, relative, resolve } from "node:path";
import { formatDuration } from "../../duration.js";
import { RalphError } from "../../errors.js";
import { prpFileFor } from "../../recipes/pipeline/gates/gate.js";
import { loadPipeline, type Pipeline } from "../../recipes/pipeline/pipeline-file.js";
import { COMPLETE, type PipelineSpec } from "../../recipes/pipeline/spec.js";
import { readTextFile } from "../../recipes/text-file.js";
import { DEFAULT_LIMITS, limitsFrom, saysSomething, wholeNumber } from "../../settings/limits.js";
import { loadSettings } from "../../settings/load.js";
import { harmlessJson, harmlessLine } from "../../views/harmless.js";
import { tableLines } from "../../views/table.js";
import { git, repositoryRoot } from "../../workspace/git.js";
import { uncommittedFiles } from "../../workspace/uncommitted.js";
import { type OutputFlags, printAll } from "../output.js";
import { type StartFlags, startRun } from "../start-run.js";

export interface RunFlags extends StartFlags {
  maxGateRetries?: string;
  testCommand?: string;
  dryRun?: boolean;
}

const NO_REPOSITORY = "not a git repository: nothing is committed, and the gutter has no patch";

const NOT_KNOWN = "a runner that is not known: its exit code decides, unless it says that there was no test";

/** `ralph pipeline run SPEC`: from a spec to working code, through gates. */
export async function run(given: string, flags: RunFlags): Promise<number> {
  const origin = process.cwd();
  const specFile = fileInProject(origin, saysSomething("SPEC", given));
  readTextFile("spec", specFile, origin);
  const loaded = await loadSettings(origin, flags.config);
  const { dryRun = false, worktree } = flags;
  const pipeline = await pipelineFor(origin, specFile, flags);
  if (dryRun) return showPlan(specFile, pipeline, flags);
  if (worktree !== undefined) await refuseUncommitted(origin, specFile);
  const recipe: PipelineSpec = {
    kind: "pipeline",
    specFile,
    prpFile: prpFileFor(specFile),
    ...pipeline,
    dirty: worktree === undefined ? await dirtyFiles(origin, specFile) : [],
  };
  return startRun(flags, loaded, {
    recipe,
    limits: limitsFrom(flags, { ...DEFAULT_LIMITS, maxIterations: enoughFor(pipeline), stuckAfter: 0 }),
    stream: loaded.settings.streamAgentOutput,
    title: specFile.replace(/^.*\/|\.[^.]+$/g, ""),
    warnings: repositoryRoot(origin) === undefined ? [NO_REPOSITORY] : [],
    notes: lastGate(pipeline),
  });
}

/** `--dry-run`: the states and their gates. Nothing is run and nothing is written. */
async function showPlan(specFile: string, pipeline: Pipeline, flags: OutputFlags): Promise<number> {
  const { states, maxGateRetries } = pipeline;
  if (flags.json) {
    await printAll(`${harmlessJson({ v: 1, specFile, ...pipeline }, 2)}\n`);
    return 0;
  }
  const rows = states.map(({ name, agent, timeoutMs, command }, index) => [
    String(index + 1),
    name,
    agent,
    formatDuration(timeoutMs),
    harmlessLine(command),
  ]);
  const header = ["#", "state", "agent", "timeout", "gate"];
  const layout = { width: process.stdout.columns };
  const table = tableLines([header, ...rows, [String(states.length + 1), COMPLETE, "", "", ""]], layout);
  const title = `Pipeline for ${harmlessLine(specFile)}, at most ${maxGateRetries} retries per gate:`;
  const dry = "Dry run: nothing was run and nothing was written.";
  await printAll(`${[title, "", ...table, "", dry].join("\n")}\n`);
  return 0;
}

async function pipelineFor(origin: string, specFile: string, flags: RunFlags): Promise<Pipeline> {
  const { maxGateRetries: retries, testCommand } = flags;
  const given = testCommand === undefined ? undefined : saysSomething("--test-command", testCommand);
  const about = { specFile, prpFile: prpFileFor(specFile), testCommand: given };
  const pipeline = await loadPipeline(origin, about);
  if (retries === undefined) return pipeline;
  return { ...pipeline, maxGateRetries: wholeNumber("--max-gate-retries", retries, 0) };
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

function lastGate({ states }: Pipeline): string[] {
  const last = states.at(-1);
  if (last === undefined) return [];
  const runs = `${last.name} runs ${last.command}`;
  return [last.unknownRunner === true ? `${runs} (${NOT_KNOWN})` : runs];
}

/** The spec itself may be mended, and is committed then. */
async function dirtyFiles(origin: string, specFile: string): Promise<string[]> {
  const root = repositoryRoot(origin);
  if (root === undefined) return [];
  const own = relative(root, resolve(origin, specFile));
  return ((await uncommittedFiles(origin)) ?? []).filter((file) => file !== own);
}

/** What is not committed is not in a new worktree. */
async function refuseUncommitted(origin: string, specFile: string): Promise<void> {
  const { ok, stdout } = await git(origin, ["show", `HEAD:./${specFile}`]);
  if (ok && stdout === readTextFile("spec", specFile, origin)) return;
  throw new RalphError(`${specFile} is not committed as it is, so a worktree would not have it`, {
    code: "spec_uncommitted",
    hint: `git add ${specFile} && git commit -m "Spec"`,
  });
}
