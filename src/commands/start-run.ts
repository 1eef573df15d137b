import { rmSync } from "node:fs";
import type { RecipeSpec } from "../recipes/registry.js";
import { ralphHome } from "../records/home.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { hasAnswer } from "../records/words.js";
import { prepareResume, prepareRun } from "../run/prepare.js";
import { sandboxInForce } from "../run/sandbox.js";
import { handleSignals } from "../run/signals.js";
import {
  type NetFlags,
  netsFrom,
  type PreparedRun,
  type RecipeStart,
  type RequestFlags,
  readSpec,
  requestFrom,
} from "../run/spec.js";
import { hostRun } from "../run/terminal.js";
import { DEFAULT_LIMITS, limitsFrom } from "../settings/limits.js";
import { type LoadedSettings, loadSettings } from "../settings/load.js";
import { harmlessJson } from "../views/harmless.js";
import { assignment } from "../workers/files.js";
import { failure, note, type OutputFlags, viewFor, warn } from "./output.js";
import { type ReportingFlags, type ReportTarget, reportTarget, writeReports } from "./report.js";

type ShowFlags = OutputFlags & ReportingFlags & Pick<NetFlags, "inhibit">;

export type StartFlags = RequestFlags & ShowFlags & { elsewhere?: Elsewhere };
export type ResumeFlags = NetFlags & ShowFlags;

/** Starts a run elsewhere, from the parsed flags of its command. */
export type Elsewhere = (
  flags: RequestFlags,
  loaded: LoadedSettings,
  start: RecipeStart & Remarks,
) => Promise<number>;

interface Remarks {
  warnings?: string[];
  notes?: string[];
}

export async function startRun(
  { elsewhere, ...flags }: StartFlags,
  loaded: LoadedSettings,
  { warnings = [], notes = [], ...start }: RecipeStart & Remarks,
): Promise<number> {
  if (elsewhere !== undefined) return elsewhere(flags, loaded, { warnings, notes, ...start });
  const target = reportTarget(flags);
  const { pr, worktree } = flags;
  if (pr)
    await (await import("./pull-request.js")).requirePullRequest(
      start.origin ?? process.cwd(),
      worktree ?? start.lanes !== undefined,
    );
  const worker = assignment()?.name;
  if (worker !== undefined && flags.name !== undefined)
    throw failure("flag_invalid", "--name was given twice", `worker ${worker} already has that name`);
  const request = { ...requestFrom(flags, start), worker };
  // Creating a worktree may take minutes: a signal removes an unfinished one.
  const handler = request.worktree === false ? undefined : handleSignals(() => {});
  const making = handler && { signal: handler.signals.stop, tell: note };
  const prepared = await prepareRun(request, loaded, making).finally(handler?.release);
  if (!("resume" in prepared))
    return show(prepared, flags, target, { warnings: [...warnings, ...prepared.warnings], notes, loaded });
  const { resume: old } = prepared;
  if (JSON.stringify(readSpec(old).recipe) !== JSON.stringify(start.recipe))
    throw failure(
      "worktree_taken",
      `the worktree belongs to run ${old.name()}, which has another task`,
      `continue it with ralph resume ${old.name()}, or choose another name`,
    );
  note(`the worktree belongs to run ${old.name()}, which continues`);
  return continueRun(old, flags);
}

/** A further run in the worktree of another one, with its agent and its checks. */
export async function prepareRound(
  parent: RunFolder,
  task: string,
  maxCostUsd: number | null,
  flags: ShowFlags,
): Promise<{ run: string; start(): Promise<number> }> {
  const { workspace, worktree, origin = workspace, ...spec } = readSpec(parent);
  const { recipe, limits, stream, config, agent, keepBackground, sandbox, issue } = spec;
  const costs = [maxCostUsd, limits.maxCostUsd].filter((cost) => cost !== null);
  const request = {
    ...{ origin, stream, config, agent, keepBackground, issue, follows: parent.id, title: "" },
    recipe: await (await import("../recipes/registry.js")).roundRecipe(recipe, task, workspace),
    limits: { ...limits, maxCostUsd: costs.length === 0 ? null : Math.min(...costs) },
    sandbox: sandbox?.kind,
    worktree: false,
    within: { workspace, origin, worktree },
  };
  const prepared = await prepareRun(request, await loadSettings(origin, config));
  if ("resume" in prepared) throw new Error("a round has a worktree of its own");
  return { run: prepared.spec.id, start: () => show(prepared, flags, reportTarget(flags), prepared) };
}

/** Continues a run without a living loop. `recipe` replaces its own. */
export async function continueRun(run: RunFolder, flags: ResumeFlags, recipe?: RecipeSpec): Promise<number> {
  const { limits, workspace, origin = workspace, config } = readSpec(run);
  const target = reportTarget(flags);
  const question = run.state()?.question;
  // An agent that gets no answer would ask again.
  if (question !== undefined && !hasAnswer(run))
    throw failure(
      "answer_missing",
      `run ${run.name()} waits for an answer: ${question.text}`,
      `ralph answer ${run.name()} "TEXT" answers it`,
    );
  const request = {
    recipe,
    // A run of an earlier release does not know all of them.
    limits: limitsFrom(flags, { ...DEFAULT_LIMITS, ...limits }),
    ...netsFrom(flags),
  };
  const loaded = await loadSettings(origin, config);
  rmSync(run.pause, { force: true });
  return show(await prepareResume(run, request, loaded), flags, target);
}

/** Runs it in this terminal, or in the worker's window that this process belongs to. */
async function show(
  prepared: PreparedRun,
  flags: ShowFlags,
  target: ReportTarget,
  { warnings = [], notes = [], loaded }: Remarks & { loaded?: LoadedSettings } = {},
): Promise<number> {
  const { spec, unsheltered } = prepared;
  const { quiet = false, verbose = false, inhibit = true } = flags;
  const post = assignment();
  const worker = post && (await import("../run/worker.js"));
  const out = post && worker ? worker.windowStream(post) : target.shownOn;
  // Even with --quiet, ralph says that a sandbox the user asked for is missing.
  if (!quiet || unsheltered !== undefined) note(`sandbox: ${await sandboxInForce(prepared)}`);
  // It changes what a green check means, so it is among the first lines.
  if (spec.keepBackground && !quiet)
    note("background: kept; ralph does not end what agents and checks leave running");
  if (verbose && loaded !== undefined) {
    const { withoutSecrets } = await import("./config.js");
    for (const { name } of loaded.files) process.stderr.write(`[ralph] Loading settings from ${name}\n`);
    process.stderr.write(`[ralph] Settings: ${harmlessJson(withoutSecrets(loaded.settings))}\n`);
  }
  warnings.forEach(warn);
  if (!quiet) notes.forEach(note);
  const view = await viewFor(flags, { showAgent: spec.stream, out });
  const showing = { view, attendance: { keepAwake: inhibit, verbose } };
  const exitCode =
    post && worker ? await worker.hostWorker(prepared, showing, out, post) : await hostRun(prepared, showing);
  await writeReports(target, runFolder(ralphHome(), spec.id), flags.json);
  if (!spec.pr) return exitCode;
  return (await import("./pull-request.js")).deliverAtEnd(spec.id, exitCode, flags.json);
}
