import { rmSync } from "node:fs";
import { RalphError } from "../errors.js";
import type { RecipeSpec } from "../recipes/registry.js";
import { ralphHome } from "../records/home.js";
import { OWN_AGENT } from "../records/limited.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { hasAnswer } from "../records/words.js";
import type { PreparedRun, RunRequest } from "../run/context.js";
import {
  type NetFlags,
  netsFrom,
  type RequestFlags,
  requestFrom,
  type Start,
  sandboxFrom,
} from "../run/flags.js";
import { prepareRun } from "../run/prepare.js";
import { sandboxInForce } from "../run/sandbox.js";
import { handleSignals } from "../run/signals.js";
import { readSpec } from "../run/spec.js";
import { hostRun } from "../run/terminal.js";
import { DEFAULT_LIMITS, limitsFrom } from "../settings/limits.js";
import { type LoadedSettings, loadSettings } from "../settings/load.js";
import { harmlessJson } from "../views/harmless.js";
import { assignment } from "../workers/assignment.js";
import { type OutputFlags, viewFor } from "./output.js";
import {
  checkReportFlags,
  type ReportingFlags,
  type ReportTarget,
  viewStream,
  writeReports,
} from "./reporting.js";

/** Flags of every command that shows a run. */
type ShowFlags = OutputFlags & ReportingFlags & Pick<NetFlags, "inhibit">;

export type StartFlags = RequestFlags & ShowFlags;
export type ResumeFlags = NetFlags & ShowFlags;

/** What the user should know before the run begins, and what is good to know. */
interface Words {
  warnings?: string[];
  notes?: string[];
}

/** Prepares a run, runs it here, and writes its reports. */
export async function startRun(
  flags: StartFlags,
  loaded: LoadedSettings,
  { warnings = [], notes = [], ...start }: Start & Words,
): Promise<number> {
  const place = checkReportFlags(flags);
  const request = { ...requestFrom(flags, start, loaded.settings), worker: assignment()?.name };
  const prepared = await prepare(request, loaded);
  if ("resume" in prepared) {
    const { resume: folder } = prepared;
    refuseOther(folder, start.recipe);
    say(`the worktree belongs to run ${folder.id}, which goes on`);
    return continueRun(folder, flags);
  }
  const words = { warnings: [...warnings, ...prepared.warnings], notes };
  return show(prepared, flags, place, { ...words, loaded });
}

/** A worktree may take minutes to be made: a signal takes away what is not ready. */
async function prepare(request: RunRequest, loaded: LoadedSettings): ReturnType<typeof prepareRun> {
  if (request.worktree === false) return prepareRun(request, loaded);
  const { signals, release } = handleSignals(() => {});
  try {
    return await prepareRun(request, loaded, { signal: signals.stop, tell: say });
  } finally {
    release();
  }
}

/** Whoever asks for something else does not want the old run to go on. */
function refuseOther(folder: RunFolder, wanted: RecipeSpec): void {
  if (JSON.stringify(readSpec(folder).recipe) === JSON.stringify(wanted)) return;
  throw new RalphError(`the worktree belongs to run ${folder.id}, which was asked for something else`, {
    code: "worktree_taken",
    hint: `continue it with ralph resume ${folder.id}, or choose another name`,
  });
}

/** Goes on with a run that nobody is at work on. `recipe` takes the place of its own one. */
export async function continueRun(
  folder: RunFolder,
  flags: ResumeFlags,
  recipe?: RecipeSpec,
): Promise<number> {
  const { createdAt, limits, workspace, origin = workspace, config } = readSpec(folder);
  const place = checkReportFlags(flags, new Date(createdAt));
  refuseUnanswered(folder);
  const { prepareResume } = await import("../run/resume.js");
  const request = {
    recipe,
    // A run of an earlier release does not know all of them.
    limits: limitsFrom(flags, { ...DEFAULT_LIMITS, ...limits }),
    sandbox: sandboxFrom(flags),
    nets: netsFrom(flags),
    keepBackground: flags.keepBackground,
  };
  const loaded = await loadSettings(origin, config);
  rmSync(folder.pause, { force: true });
  return show(await prepareResume(folder, request, loaded), flags, place);
}

/** An agent that gets no answer would ask again. */
function refuseUnanswered(folder: RunFolder): void {
  const question = folder.state()?.question;
  if (question === undefined || hasAnswer(folder)) return;
  throw new RalphError(`run ${folder.id} waits for an answer: ${question.text}`, {
    code: "answer_missing",
    hint: `ralph answer ${folder.id} "TEXT" gives it`,
  });
}

/** Runs it in this terminal, or in the window of the worker that this process was made for. */
async function show(
  prepared: PreparedRun,
  flags: ShowFlags,
  place: ReportTarget | undefined,
  { warnings = [], notes = [], loaded }: Words & { loaded?: LoadedSettings } = {},
): Promise<number> {
  const { spec, variables, unsheltered } = prepared;
  const { quiet = false, verbose = false, inhibit = true } = flags;
  const post = assignment();
  const worker = post && (await import("../run/worker.js"));
  const out = post && worker ? worker.windowStream(post) : viewStream(flags);
  const env = { ...process.env, ...variables[OWN_AGENT] };
  // Whoever asked for one hears that there is none.
  if (!quiet || unsheltered !== undefined) say(`sandbox: ${await sandboxInForce(spec, env, unsheltered)}`);
  // Part of the first lines, as it changes what a green check means.
  if (spec.keepBackground && !quiet)
    say("background: kept; what agents and checks leave running is not ended");
  if (verbose && loaded !== undefined) await sayWhatWasLoaded(loaded);
  for (const text of warnings) say(`warning: ${text}`);
  if (!quiet) for (const text of notes) say(text);
  const showing = {
    view: await viewFor(flags, { showAgent: spec.stream, out }),
    attendance: { keepAwake: inhibit, verbose },
  };
  const exitCode =
    post && worker ? await worker.hostWorker(prepared, showing, out, post) : await hostRun(prepared, showing);
  await writeReports(flags, runFolder(ralphHome(), spec.id), place);
  return exitCode;
}

function say(text: string): void {
  process.stderr.write(`ralph: ${text}\n`);
}

async function sayWhatWasLoaded({ settings, files }: LoadedSettings): Promise<void> {
  const { withoutSecrets } = await import("./config.js");
  for (const { name } of files) process.stderr.write(`[ralph] Loading settings from ${name}\n`);
  process.stderr.write(`[ralph] Settings: ${harmlessJson(withoutSecrets(settings))}\n`);
}
