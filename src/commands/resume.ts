import { existsSync, rmSync } from "node:fs";
import { RalphError } from "../errors.js";
import type { Limits, StopReason } from "../events.js";
import { limitReached } from "../loop/limits.js";
import { recipeRow } from "../recipes/registry.js";
import { ralphHome } from "../records/home.js";
import { repairJournal } from "../records/journal.js";
import { initialState, type RunState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import { hasAnswer } from "../records/words.js";
import { agentEnvironment, checkAgent, otherEnvironments, withVariables } from "../run/agent-spec.js";
import { checkPlace } from "../run/place.js";
import { checkSandbox, sandboxFor, sandboxInForce, type WantedSandbox } from "../run/sandbox.js";
import { type RunSpec, readSpec, specToContinue } from "../run/spec.js";
import { DEFAULT_LIMITS, limitsFrom } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { isSuccess } from "../stop-reasons.js";
import { howToResume, spentOf } from "../views/summary.js";
import { assignment } from "../workers/assignment.js";
import { attendanceFrom } from "./attendance.js";
import { currentRun } from "./find-run.js";
import { runOf, warn, workerOrRun } from "./find-worker.js";
import { checkedFor, type SafetyNetFlags, sandboxFrom } from "./flags.js";
import { refuseLimits } from "./given-limits.js";
import { hostingFor } from "./hosting.js";
import { type OutputFlags, viewFor } from "./output.js";
import { checkReportFlags, type ReportingFlags, writeReports } from "./reporting.js";
import { resumeWorker } from "./resume-worker.js";
import { resumedAgents } from "./resumed-agents.js";
import { sayBackground } from "./start-run.js";

export interface ResumeFlags extends SafetyNetFlags, OutputFlags, ReportingFlags {
  inhibit?: boolean;
}

/**
 * `ralph resume [RUN]`: goes on with a run that was paused, stopped, interrupted or killed. `recipe` takes the
 * place of its own one.
 */
export async function resume(
  name: string | undefined,
  flags: ResumeFlags,
  recipe?: RunSpec["recipe"],
): Promise<number> {
  const home = ralphHome();
  const found = workerOrRun(name ?? currentRun(home, process.cwd()).id, home);
  if (!("run" in found) && assignment() === undefined) return resumeWorker(found, flags);
  const folder = runOf(found);
  const spec = readSpec(folder);
  checkPlace(spec);
  if (folder.loop() !== undefined) return endPause(folder, flags);

  const place = checkReportFlags(flags, new Date(spec.createdAt));
  refuseUnanswered(folder);
  // A run of an earlier release does not know all of them.
  const row = await recipeRow(spec.recipe);
  const limits = checkedFor(row.mostIterations, limitsFrom(flags, { ...DEFAULT_LIMITS, ...spec.limits }));
  rmSync(folder.pause, { force: true });
  const loaded = await loadSettings(spec.origin ?? spec.workspace, spec.config);
  const { settings } = loaded;
  const agentEnv = agentEnvironment(spec.agent, settings);
  const env = { ...process.env, ...agentEnv };
  const sandbox = await sandboxToContinue(spec, flags, settings);
  await checkAgent(spec.agent, settings, spec.workspace, env, sandbox.kind);
  row.checkResume?.(spec.recipe, spec.workspace);
  const hosting = await hostingFor(flags);
  const agents = await resumedAgents(spec, flags, loaded, sandbox.kind);
  const otherEnv = otherEnvironments(agents, settings);
  for (const [role, agent] of Object.entries(agents ?? {})) {
    await checkAgent(agent, settings, spec.workspace, { ...process.env, ...otherEnv[role] }, sandbox.kind);
  }
  const continued = {
    ...specToContinue(folder, withVariables(process.env, agentEnv, otherEnv)),
    limits,
    agents,
    ...(recipe && { recipe }),
    sandbox: sandbox.spec,
    ...(flags.keepBackground && { keepBackground: true }),
  };
  await checkSandbox(continued, env);
  if (!flags.quiet || sandbox.why !== undefined)
    process.stderr.write(`ralph: sandbox: ${await sandboxInForce(continued, env, sandbox.why)}\n`);
  sayBackground(flags, continued);
  const exitCode = await hosting.run(continued, {
    readState: (own) => stateToContinue(own, limits),
    agentEnv,
    otherEnv,
    view: await viewFor(flags, { showAgent: spec.stream, out: hosting.out }),
    attendance: attendanceFrom(flags, settings),
  });
  await writeReports(flags, folder, place);
  return exitCode;
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

/** The one it had, unless another one is asked for; it may be gone by now. */
function sandboxToContinue(
  { sandbox, workspace }: RunSpec,
  flags: ResumeFlags,
  settings: Settings,
): Promise<WantedSandbox> {
  return sandboxFor(sandboxFrom(flags) ?? sandbox?.kind ?? "none", settings, workspace);
}

function stateToContinue(folder: RunFolder, limits: Limits): RunState {
  const state = repaired(folder);
  if (state.success) throw nothingToDo(folder.id);
  // What was killed before it was closed, or answered and not verified, comes to its end first.
  const isOpen = state.status !== "finished" || state.answer !== undefined;
  const reached = isOpen || isSuccess(state.stop) ? undefined : limitReached(state, limits);
  if (reached !== undefined) throw limitStands(folder.id, reached, spentOf(state, limits, reached));
  return state;
}

function repaired(folder: RunFolder): RunState {
  if (!existsSync(folder.journal)) return initialState(folder.id);
  const setAside = repairJournal(folder.journal);
  if (setAside !== undefined) {
    process.stderr.write(`ralph: warning: the journal had unreadable lines; it was kept as ${setAside}\n`);
  }
  return folder.state() ?? initialState(folder.id);
}

/** The loop is alive: it goes on where it is, as it was started. */
function endPause(folder: RunFolder, flags: ResumeFlags): number {
  const isPaused = existsSync(folder.pause);
  const isWaiting = !isPaused && folder.state()?.status === "waiting";
  const now = isPaused ? "paused" : isWaiting ? "waiting for a usage limit to end" : "running";
  refuseLimits(folder.id, flags, `run ${folder.id} is ${now}`);
  if (!isPaused) {
    warn(`run ${folder.id} is ${now}${isWaiting ? "," : ""} and not paused`);
    return 0;
  }
  rmSync(folder.pause, { force: true });
  process.stdout.write(`resumed run ${folder.id}\n`);
  return 0;
}

function nothingToDo(id: string): RalphError {
  return new RalphError(`run ${id} is completed`, {
    code: "run_completed",
    hint: "start a new one with ralph run",
  });
}

function limitStands(id: string, reason: StopReason, spent: string): RalphError {
  return new RalphError(`run ${id} has reached its limit (${reason}): ${spent}`, {
    code: "limit_reached",
    hint: `raise it: ${howToResume(id, { reason })}`,
  });
}
