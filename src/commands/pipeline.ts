import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { formatDuration } from "../duration.js";
import { RalphError } from "../errors.js";
import { inPackage } from "../package-folder.cjs";
import { enoughFor, type PipelineFlags, pipelineSpec, specNow } from "../recipes/pipeline/flags.js";
import { firstPosition, positionIn } from "../recipes/pipeline/moves.js";
import { defaultPipeline, ownPipeline, VALIDATE_TESTS } from "../recipes/pipeline/pipeline-file.js";
import { COMPLETE, PIPELINE_FILES, type PipelineSpec } from "../recipes/pipeline/spec.js";
import { ownMemory } from "../recipes/protected.js";
import { writeFresh } from "../records/files.js";
import { hasAnswer } from "../records/words.js";
import { readSpec } from "../run/spec.js";
import { DEFAULT_LIMITS, limitsFrom, saysSomething } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import type { Formatter } from "../views/format.js";
import { harmlessLine } from "../views/harmless.js";
import { tableLines } from "../views/table.js";
import { repositoryRoot } from "../workspace/git.js";
import { prepareRuntimeFolder, RUNTIME_FOLDER, requireOwnFolder } from "../workspace/runtime.js";
import { currentRun, latestRun } from "./find.js";
import { formatterFor, type LookFlags, printAs } from "./output.js";
import { resume as resumeRun } from "./resume.js";
import { type ResumeFlags, type StartFlags, startRun } from "./start-run.js";

const NO_REPOSITORY = "not a git repository: nothing is committed, and the gutter has no patch";

const NOT_KNOWN = "a runner that is not known: its exit code decides, unless it says that there was no test";

/** `ralph pipeline run SPEC`: from a spec to working code, through gates. */
export async function run(
  given: string,
  flags: StartFlags & PipelineFlags & { dryRun?: boolean },
): Promise<number> {
  const origin = process.cwd();
  saysSomething("SPEC", given);
  const { dryRun = false } = flags;
  const loaded = await loadSettings(origin, flags.config);
  const recipe = await pipelineSpec(given, flags, origin, dryRun);
  if (dryRun) return showPlan(recipe, flags);
  return startRun(flags, loaded, {
    recipe,
    limits: limitsFrom(flags, { ...DEFAULT_LIMITS, maxIterations: enoughFor(recipe), stuckAfter: 0 }),
    stream: loaded.settings.streamAgentOutput,
    title: recipe.specFile.replace(/^.*\/|\.[^.]+$/g, ""),
    warnings: repositoryRoot(origin) === undefined ? [NO_REPOSITORY] : [],
    notes: recipe.states
      .slice(-1)
      .map(({ name, command, unknownRunner }) =>
        unknownRunner === true ? `${name} runs ${command} (${NOT_KNOWN})` : `${name} runs ${command}`,
      ),
  });
}

/** `--dry-run`: the states and their gates. Nothing is run and nothing is written. */
async function showPlan(recipe: PipelineSpec, flags: LookFlags): Promise<number> {
  const { specFile, states, maxGateRetries, testCommand } = recipe;
  await printAs(flags, { v: 1, specFile, states, maxGateRetries, testCommand }, () => [
    `Pipeline for ${harmlessLine(specFile)}, at most ${maxGateRetries} retries per gate:`,
    "",
    ...tableLines(
      [
        ["#", "state", "agent", "timeout", "gate"],
        ...states.map(({ name, agent, timeoutMs, command }, index) => [
          ...[String(index + 1), name, agent, formatDuration(timeoutMs), harmlessLine(command)],
        ]),
        [String(states.length + 1), COMPLETE, "", "", ""],
      ],
      { width: process.stdout.columns },
    ),
    "",
    "Dry run: nothing was run and nothing was written.",
  ]);
  return 0;
}

/** `ralph pipeline resume`: goes on at the state where the pipeline of this folder stopped. */
export async function resume({
  maxGateRetries,
  ...flags
}: ResumeFlags & { maxGateRetries?: string }): Promise<number> {
  const folder = currentRun("pipeline");
  const { recipe, origin, workspace, limits } = readSpec(folder);
  if (recipe.kind !== "pipeline")
    throw new RalphError(`run ${folder.id} is at work here, and is no pipeline`, {
      code: "run_unknown",
      hint: `ralph resume ${folder.id} goes on with it, if it is paused`,
    });
  const { memory, lastSeenAt = "", iterations = 0 } = folder.state() ?? {};
  const stopped = { origin, workspace, position: positionIn(ownMemory(memory)), lastSeenAt };
  const { now, changed } = await specNow(recipe, { maxGateRetries }, stopped);
  const say = (text: string): void => void process.stderr.write(`ralph: ${text}\n`);
  if (changed !== undefined) say(`${changed} was changed since the run began: it counts as it is now`);
  if (!flags.quiet) say(`resuming run ${folder.id}, the pipeline for ${harmlessLine(now.specFile)}`);
  const maxIterations = String(Math.max(iterations + enoughFor(now), limits.maxIterations));
  const given: ResumeFlags & { maxIterations: string } = { maxIterations, ...flags };
  return resumeRun(folder.id, given, now);
}

/** `ralph pipeline status`: where the pipeline of this folder stands, as its journal tells. */
export async function status(flags: LookFlags): Promise<number> {
  const shown = pipelineOf(latestRun("pipeline"));
  if (shown !== undefined) await printAs(flags, shown, () => linesOf(shown, formatterFor(flags)));
  return 0;
}

function pipelineOf(folder: ReturnType<typeof latestRun>) {
  const { recipe, createdAt } = readSpec(folder);
  if (recipe.kind !== "pipeline") return undefined;
  const run = folder.state();
  const { state, retries, inGutter, history } =
    positionIn(ownMemory(run?.memory)) ?? firstPosition(recipe.states, new Date(createdAt));
  const names = recipe.states.map(({ name }) => name);
  const current = state === COMPLETE ? names.length : names.indexOf(state);
  const statusOf = (index: number) =>
    index < current ? "passed" : index === current ? "current" : "waiting";
  return {
    v: 1,
    run: folder.id,
    status: folder.status(run?.status),
    /** Why it stopped, where it has. */
    reason: run?.reason ?? null,
    specFile: recipe.specFile,
    prpFile: recipe.prpFile,
    state,
    retries,
    maxRetries: recipe.maxGateRetries,
    inGutter,
    /** What the agent wants to know, until it is answered. */
    question: hasAnswer(folder) ? null : (run?.question?.text ?? null),
    states: names.map((name, index) => ({ name, status: statusOf(index) }) as const),
    history,
  };
}

type Shown = NonNullable<ReturnType<typeof pipelineOf>>;

function linesOf(shown: Shown, { mark, paint }: Formatter): string[] {
  const { state, inGutter } = shown;
  const marks = { passed: mark.ok, current: inGutter ? mark.alarm : mark.active, waiting: mark.pending };
  const tries = state === COMPLETE ? "" : ` (retry ${shown.retries}/${shown.maxRetries})`;
  const ended = shown.status === "finished" && state !== COMPLETE ? shown.reason : null;
  return [
    paint("bold", `Pipeline for ${harmlessLine(shown.specFile)}`),
    `Run: ${shown.run} (${ended ?? shown.status})`,
    `State: ${state}${tries}${inGutter ? ", in the gutter" : ""}`,
    "",
    ...shown.states.map(({ name, status: stands }) => `${marks[stands]} ${name}`),
    "",
    "History:",
    ...shown.history.map((line) => `  ${line}`),
    ...goOn(shown),
  ];
}

function goOn({ run, status: runs, state, question }: Shown): string[] {
  if (state === COMPLETE || runs === "running" || runs === "waiting") return [];
  if (question === null) return ["", "Go on with: ralph pipeline resume"];
  const answer = `ralph answer ${run} "TEXT", and then: ralph pipeline resume`;
  return ["", `Question: ${harmlessLine(question)}`, `Answer it with: ${answer}`];
}

/** `ralph pipeline init`: the default pipeline as a file, to be edited. */
export async function init({
  validateTests = false,
  force = false,
}: {
  validateTests?: boolean;
  force?: boolean;
}): Promise<number> {
  const project = process.cwd();
  const pipeline = ownPipeline(project) ?? PIPELINE_FILES[0];
  const wanted = [pipeline, ...(validateTests ? [VALIDATE_TESTS] : [])];
  const there = wanted.filter((file) => existsSync(file));
  if (there.length > 0 && !force)
    throw new RalphError(`${there.join(", ")} already there`, {
      code: "file_exists",
      hint: "--force overwrites",
    });
  requireOwnFolder(project);
  if (validateTests) {
    writeFresh(VALIDATE_TESTS, readFileSync(inPackage("templates/validate-tests.sh"), "utf8"));
    chmodSync(VALIDATE_TESTS, 0o755);
  }
  mkdirSync(RUNTIME_FOLDER, { recursive: true });
  prepareRuntimeFolder(project);
  writeFresh(pipeline, defaultPipeline(project));
  process.stdout.write(wanted.map((file) => `created ${file}\n`).join(""));
  process.stdout.write("Next: edit it, then ralph pipeline run --dry-run SPEC shows what would be run\n");
  return 0;
}
