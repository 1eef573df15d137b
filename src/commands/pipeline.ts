import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { formatDuration } from "../duration.js";
import { inPackage } from "../package-folder.cjs";
import { enoughFor, type PipelineFlags, pipelineSpec, specNow } from "../recipes/pipeline/flags.js";
import { GATES, isGate, judge } from "../recipes/pipeline/gates/index.js";
import { readBefore } from "../recipes/pipeline/gates/test-files.js";
import { firstPosition, positionIn } from "../recipes/pipeline/moves.js";
import { defaultPipeline, ownPipeline, VALIDATE_TESTS } from "../recipes/pipeline/pipeline-file.js";
import { COMPLETE, PIPELINE_FILES, type PipelineSpec } from "../recipes/pipeline/spec.js";
import { ownMemory } from "../recipes/protected.js";
import { writeFresh } from "../records/files.js";
import { hasAnswer } from "../records/words.js";
import { readSpec } from "../run/spec.js";
import { duration, limitsFrom, limitsOf, saysSomething } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import type { Formatter } from "../views/figures.js";
import { harmlessLine } from "../views/harmless.js";
import { tableLines } from "../views/layout.js";
import { didYouMean } from "../words.js";
import { repositoryRoot } from "../workspace/git.js";
import { prepareRuntimeFolder, RUNTIME_FOLDER, requireOwnFolder } from "../workspace/runtime.js";
import { currentRun, latestRun } from "./find.js";
import { failure, formatterFor, note, type PrintFlags, printAs, say } from "./output.js";
import { resume as resumeRun } from "./resume.js";
import { type ResumeFlags, type StartFlags, startRun } from "./start-run.js";

const NO_REPOSITORY = "not a git repository: ralph commits nothing, and the gutter has no patch";

const NOT_KNOWN = "ralph does not know this runner: its exit code decides, unless it says that no test ran";

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
    limits: limitsFrom(flags, limitsOf(loaded.settings, { maxIterations: enoughFor(recipe), stuckAfter: 0 })),
    stream: loaded.settings.streamAgentOutput,
    title: recipe.specFile.replace(/^.*\/|\.[^.]+$/g, ""),
    warnings: repositoryRoot(origin) === undefined ? [NO_REPOSITORY] : [],
    notes: [
      ...aboutPrp(recipe),
      ...recipe.states.slice(-1).map(({ name, command, unknownRunner }) => {
        return `${name} runs ${command}${unknownRunner ? ` (${NOT_KNOWN})` : ""}`;
      }),
    ],
  });
}

/** Explains the word where it first appears. */
function aboutPrp({ states, prpFile }: PipelineSpec): string[] {
  if (!states.some(({ name }) => /(^|_)PRP($|_)/.test(name))) return [];
  return [`PRP (product requirements prompt): the plan that an agent writes from your spec, in ${prpFile}`];
}

/** `--dry-run`: the states and their gates. Runs and writes nothing. */
async function showPlan(recipe: PipelineSpec, flags: PrintFlags): Promise<number> {
  const { specFile, states, maxGateRetries, testCommand } = recipe;
  return printAs(flags, { v: 1, specFile, states, maxGateRetries, testCommand }, () => [
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
    ...aboutPrp(recipe).map(harmlessLine),
    "Dry run: ralph ran nothing and wrote nothing.",
  ]);
}

/** `ralph pipeline resume`: continues at the state where the pipeline of this folder stopped. */
export async function resume(given: ResumeFlags & { maxGateRetries?: string }): Promise<number> {
  const { maxGateRetries, ...flags } = given;
  const folder = currentRun("pipeline");
  const { recipe, origin, workspace, limits } = readSpec(folder);
  if (recipe.kind !== "pipeline")
    throw failure(
      "run_unknown",
      `run ${folder.id} is running here, and is not a pipeline`,
      `ralph resume ${folder.id} continues it, if it is paused`,
    );
  const { memory, lastSeenAt = "", iterations = 0 } = folder.state() ?? {};
  const stopped = { origin, workspace, state: positionIn(ownMemory(memory))?.state, lastSeenAt };
  const { now, changed } = await specNow(recipe, { maxGateRetries }, stopped);
  if (changed !== undefined) note(`${changed} has changed since the run began: the new version counts`);
  if (!flags.quiet) note(`resuming run ${folder.id}, the pipeline for ${harmlessLine(now.specFile)}`);
  const maxIterations = String(Math.max(iterations + enoughFor(now), limits.maxIterations));
  const limited: ResumeFlags & { maxIterations: string } = { maxIterations, ...flags };
  return resumeRun(folder.id, limited, now);
}

/** `ralph pipeline status`: the state of this folder's pipeline, from its journal. */
export async function status(flags: PrintFlags): Promise<number> {
  const shown = pipelineOf(latestRun("pipeline"));
  return shown === undefined ? 0 : printAs(flags, shown, () => linesOf(shown, formatterFor(flags)));
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
    reason: run?.reason ?? null,
    specFile: recipe.specFile,
    prpFile: recipe.prpFile,
    state,
    retries,
    maxRetries: recipe.maxGateRetries,
    inGutter,
    /** The agent's question, until it is answered. */
    question: hasAnswer(folder) ? null : (run?.question?.text ?? null),
    states: names.map((name, index) => ({ name, status: statusOf(index) }) as const),
    history,
  };
}

function linesOf(shown: NonNullable<ReturnType<typeof pipelineOf>>, { mark, paint }: Formatter): string[] {
  const { state, inGutter } = shown;
  const marks = { passed: mark.ok, current: inGutter ? mark.alarm : mark.active, waiting: mark.pending };
  const tries = state === COMPLETE ? "" : ` (retry ${shown.retries}/${shown.maxRetries})`;
  const ended = shown.status === "finished" && state !== COMPLETE ? shown.reason : null;
  const answer = `ralph answer ${shown.run} "TEXT", and then: ralph pipeline resume`;
  const goOn =
    shown.question === null
      ? ["", "Continue with: ralph pipeline resume"]
      : ["", `Question: ${harmlessLine(shown.question)}`, `Answer it with: ${answer}`];
  return [
    paint("bold", `Pipeline for ${harmlessLine(shown.specFile)}`),
    `Run: ${shown.run} (${ended ?? shown.status})`,
    `State: ${state}${tries}${inGutter ? ", in the gutter" : ""}`,
    "",
    ...shown.states.map(({ name, status: stands }) => `${marks[stands]} ${name}`),
    "",
    "History:",
    ...shown.history.map((line) => `  ${line}`),
    ...(state === COMPLETE || ["running", "waiting"].includes(shown.status) ? [] : goOn),
  ];
}

/** `ralph pipeline init`: the default pipeline as a file, to be edited. */
export async function init(flags: { validateTests?: boolean; force?: boolean }): Promise<number> {
  const { validateTests, force } = flags;
  const project = process.cwd();
  const pipeline = ownPipeline(project) ?? PIPELINE_FILES[0];
  const wanted = [pipeline, ...(validateTests ? [VALIDATE_TESTS] : [])];
  const there = wanted.filter((file) => existsSync(file));
  if (there.length > 0 && !force)
    throw failure("file_exists", `${there.join(", ")} already there`, "--force overwrites");
  requireOwnFolder(project);
  if (validateTests) {
    writeFresh(VALIDATE_TESTS, readFileSync(inPackage("templates/validate-tests.sh"), "utf8"));
    chmodSync(VALIDATE_TESTS, 0o755);
  }
  mkdirSync(RUNTIME_FOLDER, { recursive: true });
  prepareRuntimeFolder(project);
  writeFresh(pipeline, defaultPipeline(project));
  for (const file of wanted) say(`created ${file}`);
  return say("Next: edit it, then ralph pipeline run --dry-run SPEC shows what it would run");
}

const TIMEOUT_MS = 5 * 60_000;

/** `ralph gate NAME FILE`: one gate of the pipeline, for CI and for people. */
export async function gate(
  name: string,
  file: string,
  flags: PrintFlags & { implemented?: boolean } & {
    [flag in "spec" | "prp" | "tests" | "testCommand" | "timeout"]?: string;
  },
): Promise<number> {
  const { tests, timeout, implemented } = flags;
  const names = Object.keys(GATES);
  if (tests !== undefined && !existsSync(tests))
    throw failure("flag_invalid", `no such folder or file: --tests ${tests}`);
  if (!isGate(name))
    throw failure(
      "gate_unknown",
      `unknown gate '${name}'`,
      didYouMean(name, names) ?? `gates: ${names.join(", ")}`,
    );
  const { mark, paint } = formatterFor(flags);
  const report = await judge(name, {
    workspace: process.cwd(),
    file: saysSomething("FILE", file),
    spec: flags.spec ?? fromPipeline("RALPH_SPEC_FILE"),
    prpFile: flags.prp ?? fromPipeline("RALPH_PRP_FILE"),
    tests,
    testCommand: flags.testCommand ?? fromPipeline("RALPH_TEST_COMMAND"),
    timeoutMs: timeout === undefined ? TIMEOUT_MS : duration("--timeout", timeout),
    implemented,
    before: readBefore(fromPipeline("RALPH_BEFORE"), fromPipeline("RALPH_ONLY_NEW") !== undefined),
  });
  const { findings, passed, message } = report;
  const lines = () => [
    ...findings.map((one) => harmlessLine(`${one.file}:${one.line}: ${one.level}: ${one.message}`)),
    passed ? paint("green", `${mark.ok} ${message}`) : paint("red", `${mark.error} ${message}`),
  ];
  return printAs(flags, report, lines, passed ? 0 : 1);
}

function fromPipeline(variable: string): string | undefined {
  return process.env[variable] || undefined;
}
