import { agentFor } from "../agents/index.js";
import type { Limits } from "../events.js";
import { agentEnvironment, resolveAgent } from "../host/agent-spec.js";
import type { RunSpec } from "../host/spec.js";
import { hostRun } from "../host/terminal.js";
import type { LoadedSettings } from "../settings/load.js";
import { writableHome } from "../state/home.js";
import { newRunId, runFolder } from "../state/runs.js";
import { headCommit } from "../workspace/changes.js";
import { checkWorkspace } from "../workspace/ready.js";
import { type OutputFlags, viewFor } from "./output.js";
import { checkReportFlags, type ReportingFlags, viewStream, writeReports } from "./reporting.js";
import { withoutSecrets } from "./shown-settings.js";
import { openWorktree, type WorktreeFlags } from "./worktree.js";

/** Flags of every command that starts a run. */
export interface StartFlags extends OutputFlags, ReportingFlags, WorktreeFlags {
  agent?: string;
  model?: string;
  agentFlag?: string[];
  config?: string;
}

export interface Start {
  loaded: LoadedSettings;
  limits: Limits;
  stream: boolean;
  /** What is asked; files are named so that they are found from another folder, too. */
  recipe: RunSpec["recipe"];
  /** The agent that the recipe's own settings name. */
  agent?: string | undefined;
  /** What the run is about, for the name of its worktree. */
  title: string;
}

/** From what was asked for to a run: everything that can be wrong is found before anything is started. */
export async function startRun(flags: StartFlags, start: Start): Promise<number> {
  const origin = process.cwd();
  const now = new Date();
  const { loaded, limits, stream, recipe } = start;
  checkReportFlags(flags);
  const choice = { agent: flags.agent ?? start.agent, model: flags.model, agentFlags: flags.agentFlag ?? [] };
  const agent = await resolveAgent(choice, loaded.settings, origin, process.env);
  checkWorkspace(origin);
  const home = writableHome();
  const id = newRunId(now);
  const place = await openWorktree(flags, origin, { id, title: start.title, setup: loaded.settings.setup });
  if ("resume" in place) {
    const { resume } = await import("./resume.js");
    return resume(place.resume, flags);
  }
  const spec: RunSpec = {
    v: 1,
    id,
    createdAt: now.toISOString(),
    ...place,
    base: await headCommit(place.workspace),
    recipe,
    agent,
    limits,
    stream,
    config: flags.config,
  };
  if (flags.verbose) sayWhatWasLoaded(loaded);
  await warnOfBlindLimits(spec);
  const exitCode = await hostRun(spec, {
    agentEnv: agentEnvironment(agent, loaded.settings),
    view: await viewFor(flags, { showAgent: stream, out: viewStream(flags) }),
  });
  await writeReports(flags, home, runFolder(home, id));
  return exitCode;
}

/** A limit that nothing can measure is worse than none, because it is trusted. */
async function warnOfBlindLimits({ agent: { name, words }, limits, stream }: RunSpec): Promise<void> {
  const told = stream ? (await agentFor(words[0] ?? "")).reports : [];
  const who = stream ? name : `${name} without its stream`;
  const blind = [
    ...(limits.maxCostUsd !== null && !told.includes("cost") ? ["cost"] : []),
    ...(limits.maxTokens !== null && !told.includes("tokens") ? ["tokens"] : []),
  ];
  for (const what of blind) {
    process.stderr.write(
      `ralph: warning: ${who} does not tell its ${what}: --max-${what} cannot stop it, --max-time can\n`,
    );
  }
}

function sayWhatWasLoaded({ settings, files }: LoadedSettings): void {
  for (const { name } of files) process.stderr.write(`[ralph] Loading settings from ${name}\n`);
  process.stderr.write(`[ralph] Settings: ${JSON.stringify(withoutSecrets(settings))}\n`);
}
