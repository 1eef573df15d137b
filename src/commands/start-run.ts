import { agentFor } from "../agents/index.js";
import { RalphError } from "../errors.js";
import type { Limits } from "../events.js";
import { recipeRow } from "../recipes/registry.js";
import { ralphHome } from "../records/home.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { agentEnvironment, otherEnvironments } from "../run/agent-spec.js";
import { netAgents, netsFor } from "../run/net-agents.js";
import { type Prepared, prepareRun, type Wanted } from "../run/prepare.js";
import { type SandboxChoice, sandboxInForce } from "../run/sandbox.js";
import { handleSignals } from "../run/signals.js";
import { type AgentSpec, type RunSpec, readSpec } from "../run/spec.js";
import type { LoadedSettings } from "../settings/load.js";
import { harmlessJson } from "../views/harmless.js";
import { attendanceFrom } from "./attendance.js";
import { netFlags, type SafetyNetFlags, sandboxFrom } from "./flags.js";
import { hostingFor } from "./hosting.js";
import { type OutputFlags, viewFor } from "./output.js";
import { checkReportFlags, type ReportingFlags, writeReports } from "./reporting.js";
import { withoutSecrets } from "./shown-settings.js";
import { unknownInputs } from "./unknown-inputs.js";

/** Flags of every command that starts a run. */
export interface StartFlags
  extends OutputFlags,
    ReportingFlags,
    Pick<SafetyNetFlags, "sandbox" | "keepBackground"> {
  agent?: string;
  model?: string;
  agentFlag?: string[];
  config?: string;
  /** true: with a name that ralph chooses. */
  worktree?: string | boolean;
  fallbackAgent?: string[];
  escalateModel?: string;
  /** Run the checks before the first iteration. */
  baseline?: boolean;
  /** false: the machine may fall asleep. */
  inhibit?: boolean;
}

export interface Start extends Pick<Wanted, "loaded" | "recipe" | "limits" | "stream" | "title" | "agents"> {
  /** The project, if it is not the folder that ralph was started in. */
  origin?: string;
  /** The agent that the recipe's own settings name. */
  agent?: string | undefined;
  /** What the user should know before it begins. */
  warnings?: string[];
  /** Whether other loops may work in the same folder. */
  sharesWorkspace?: boolean;
  promptVia?: RunSpec["promptVia"];
  /** What is good to know. */
  notes?: string[];
  /** What the agents are shut into, unless somebody says otherwise. */
  sandbox?: SandboxChoice;
}

/** Prepares a run, runs it in this terminal, and writes its reports. */
export async function startRun(
  flags: StartFlags,
  {
    agent,
    origin = process.cwd(),
    warnings = [],
    notes = [],
    sharesWorkspace = false,
    promptVia,
    sandbox = "none",
    ...start
  }: Start,
): Promise<number> {
  const place = checkReportFlags(flags);
  const own = { agent: flags.agent ?? agent, model: flags.model, agentFlags: flags.agentFlag ?? [] };
  const prepared = await prepare({
    ...start,
    origin,
    agent: own,
    agents: { ...start.agents, ...netAgents(await netsOf(flags, start), own) },
    worktree: flags.worktree ?? false,
    baseline: flags.baseline,
    keepBackground: flags.keepBackground,
    sandbox: sandboxFrom(flags) ?? start.loaded.settings.sandbox?.kind ?? sandbox,
    config: flags.config,
  });
  if ("resume" in prepared) {
    refuseOther(prepared.resume, start.recipe);
    say(`the worktree belongs to run ${prepared.resume.id}, which goes on`);
    const { resume } = await import("./resume.js");
    return resume(prepared.resume.id, flags);
  }
  const hosting = await hostingFor(flags);
  const { warning, unsheltered } = prepared;
  const spec: RunSpec = {
    ...prepared.spec,
    worker: hosting.worker,
    promptVia,
    ...(sharesWorkspace && { sharedBy: prepared.spec.id }),
  };
  // Whoever asked for one hears that there is none.
  if (!flags.quiet || unsheltered !== undefined)
    say(`sandbox: ${await sandboxInForce(spec, process.env, unsheltered)}`);
  sayBackground(flags, spec);
  if (flags.verbose) sayWhatWasLoaded(start.loaded);
  const all = [
    ...warnings,
    ...(warning === undefined ? [] : [warning]),
    ...(await blindLimits(spec)),
    ...(await emptyPatterns(spec)),
    ...(await unknownInputs(spec)),
  ];
  for (const text of all) process.stderr.write(`ralph: warning: ${text}\n`);
  if (!flags.quiet) for (const text of notes) say(text);
  const exitCode = await hosting.run(spec, {
    agentEnv: agentEnvironment(spec.agent, start.loaded.settings),
    otherEnv: otherEnvironments(spec.agents, start.loaded.settings),
    view: await viewFor(flags, { showAgent: spec.stream, out: hosting.out }),
    attendance: attendanceFrom(flags, start.loaded.settings),
  });
  await writeReports(flags, runFolder(ralphHome(), spec.id), place);
  return exitCode;
}

/** What runs a command of the user's own again and again is no matter of the settings. */
async function netsOf(
  flags: StartFlags,
  { recipe, loaded }: Pick<Start, "recipe" | "loaded">,
): Promise<ReturnType<typeof netsFor>> {
  const given = netFlags(flags);
  const { ignoresNetSettings } = await recipeRow(recipe);
  return ignoresNetSettings ? given : netsFor({ ...given, agent: flags.agent }, loaded.settings);
}

/** A worktree may take minutes to be made: a signal takes away what is not ready. */
async function prepare(wanted: Wanted): Promise<Prepared> {
  if (wanted.worktree === false) return prepareRun(wanted);
  const { signals, release } = handleSignals(() => {});
  try {
    return await prepareRun({ ...wanted, signal: signals.stop, tell: say });
  } finally {
    release();
  }
}

/** Part of the first lines, as it changes what a green check means. */
export function sayBackground({ quiet }: OutputFlags, { keepBackground }: RunSpec): void {
  if (keepBackground && !quiet) say("background: kept; what agents and checks leave running is not ended");
}

function say(text: string): void {
  process.stderr.write(`ralph: ${text}\n`);
}

/** Whoever asks for something else does not want the old run to go on. */
function refuseOther(folder: RunFolder, wanted: RunSpec["recipe"]): void {
  if (JSON.stringify(readSpec(folder).recipe) === JSON.stringify(wanted)) return;
  throw new RalphError(`the worktree belongs to run ${folder.id}, which was asked for something else`, {
    code: "worktree_taken",
    hint: `continue it with ralph resume ${folder.id}, or choose another name`,
  });
}

/** A limit that nothing can measure is worse than none, because it is trusted. */
async function blindLimits({ agent, agents = {}, limits, stream }: RunSpec): Promise<string[]> {
  const all = [agent, ...Object.values(agents)].map((asked) => blindFor(asked, limits, stream));
  return [...new Set((await Promise.all(all)).flat())];
}

async function blindFor({ name, words }: AgentSpec, limits: Limits, stream: boolean): Promise<string[]> {
  const told = stream ? (await agentFor(words[0] ?? "")).reports : [];
  const who = stream ? name : `${name} without its stream`;
  const blind = [
    ...(limits.maxCostUsd !== null && !told.includes("cost") ? ["cost"] : []),
    ...(limits.maxTokens !== null && !told.includes("tokens") ? ["tokens"] : []),
  ];
  return blind.map(
    (what) => `${who} does not tell its ${what}: --max-${what} cannot stop it, --max-time can`,
  );
}

async function emptyPatterns({ protect = [], workspace }: RunSpec): Promise<string[]> {
  if (protect.length === 0) return [];
  const { withoutFiles } = await import("../verify/protected/protection.js");
  const empty = withoutFiles(protect, workspace);
  return empty.map((pattern) => `protect: no file matches ${pattern} so far`);
}

function sayWhatWasLoaded({ settings, files }: LoadedSettings): void {
  for (const { name } of files) process.stderr.write(`[ralph] Loading settings from ${name}\n`);
  process.stderr.write(`[ralph] Settings: ${harmlessJson(withoutSecrets(settings))}\n`);
}
