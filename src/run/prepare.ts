import { resolve } from "node:path";
import { MODEL_FLAGS, withoutFlag } from "../agents/agent.js";
import { agentFor } from "../agents/index.js";
import { RalphError } from "../errors.js";
import { isFallback } from "../loop/ask.js";
import type { SigningKey } from "../receipts/signature.js";
import { recipeRow } from "../recipes/registry.js";
import { checkName, ralphHome, runNamed, writableHome } from "../records/home.js";
import { ESCALATED } from "../records/limited.js";
import { livingLoops } from "../records/lock.js";
import { newRunId, type RunFolder } from "../records/runs.js";
import { requireSecrets, revealedSpec } from "../records/spec.js";
import type { SandboxChoice } from "../sandbox/choose.js";
import { invalid } from "../settings/limits.js";
import { type LoadedSettings, loopSection } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { brief } from "../views/harmless.js";
import { nearest } from "../words.js";
import { isWorker } from "../workers/files.js";
import { branchAt, git, headCommit } from "../workspace/git.js";
import { setupHint } from "../workspace/project.js";
import { checkWorkspace, RUNTIME_FOLDER } from "../workspace/runtime.js";
import { INCLUDE_FILE } from "../workspace/worktree/create.js";
import { checkAgent, escalated, netAgents, resolveAgent, variablesOf, withVariables } from "./agent-spec.js";
import { foundAgain, hiddenChecksOf, keptOf, readableSettings } from "./hidden.js";
import { checkSandbox, sandboxFor } from "./sandbox.js";
import {
  type AgentChoice,
  type AgentSpec,
  type PreparedRun,
  type ResumeRequest,
  type RunRequest,
  type RunSpec,
  readSpec,
} from "./spec.js";
import { checkFolder, openTarget, type PrepareOptions } from "./target.js";

/** Checks everything that can be wrong, before anything starts. */
export async function prepareRun(
  request: RunRequest,
  loaded: LoadedSettings,
  preparing: PrepareOptions = {},
): Promise<PreparedRun | { resume: RunFolder }> {
  const { settings } = loaded;
  const { origin, recipe, agent: own, agents = {}, nets = {}, limits, stream, config } = request;
  const { ignoresNetSettings, sandbox = "none" } = await recipeRow(recipe);
  checkWorkspace(origin);
  if (request.name !== undefined) refuseTaken(checkName(request.name), preparing.home ?? ralphHome());
  const hidden = hiddenChecksOf(request, loaded);
  const key = await keyFor(request, origin);
  // git answers while ralph checks the rest.
  const head = request.worktree === undefined ? headCommit(origin) : undefined;
  // A function runs in the program that called ralph: it gets no sandbox and no fallback.
  const wanted =
    "words" in own
      ? { sandbox: "none" as const, agents: {} }
      : {
          sandbox: request.sandbox ?? settings.sandbox?.kind ?? sandbox,
          agents: { ...agents, ...netAgents(nets, own, ignoresNetSettings ? {} : loopSection(settings)) },
        };
  const { unsheltered, ...checked } = await check({ ...request, ...wanted, workspace: origin }, settings);
  writableHome(preparing.home);
  const now = new Date();
  const id = newRunId(now);
  const target = await openTarget(request, id, settings, preparing);
  if ("resume" in target) return target;
  const { checkOptions: checks, protect = [] } = settings;
  const spec: RunSpec = {
    v: 1,
    id,
    createdAt: now.toISOString(),
    ...target,
    branch: branchAt(origin),
    base: await (head ?? headCommit(target.workspace)),
    ...{ recipe, limits, stream, config, promptVia: request.promptVia },
    ...{ name: request.name, worker: request.worker, issue: request.issue, pr: request.pr },
    ...{ follows: request.follows, lanes: request.lanes },
    ...checked,
    ...(request.baseline && { baseline: true }),
    ...proofOf(request, settings),
    ...(await keptOf(hidden)),
    ...((request.keepBackground ?? settings.agent?.background === "keep") && { keepBackground: true }),
    ...(checks !== undefined && { checks }),
    ...(protect.length > 0 && { protect }),
    ...(request.sharesWorkspace && { sharedBy: id }),
  };
  const warnings = [...(await warningsOf(spec)), ...readableSettings(loaded, origin)];
  return { spec, settings, hidden, key, variables: variablesOf(spec, settings), warnings, unsheltered };
}

async function keyFor({ sign }: Pick<RunSpec, "sign">, folder: string): Promise<SigningKey | undefined> {
  return sign ? (await import("../receipts/signature.js")).signingKey(folder) : undefined;
}

/** What a green result needs beyond the checks themselves. */
function proofOf({ confirm: given, requireWitness, sign }: RunRequest, settings: Settings) {
  const confirm = given ?? settings.confirm ?? 0;
  return {
    ...(confirm > 0 && { confirm }),
    ...(requireWitness && { requireWitness, baseline: true }),
    ...(sign && { sign }),
  };
}

/** The latest run gets the name, unless another run with this name is still running. */
function refuseTaken(name: string, home: string): void {
  const refusal = (who: string, hint: string): RalphError =>
    new RalphError(`--name ${name} is taken: ${who}`, { code: "name_taken", hint });
  if (isWorker(home, name)) throw refusal("a worker has it", `choose another, or ralph clean ${name}`);
  const run = runNamed(home, name);
  if (run !== undefined && livingLoops(home).some((loop) => loop.run === run))
    throw refusal(`run ${run} is running`, "choose another");
}

/** Prepares a run that goes on. */
export async function prepareResume(
  folder: RunFolder,
  { nets = {}, keepBackground, ...request }: ResumeRequest,
  loaded: LoadedSettings,
): Promise<PreparedRun> {
  const { settings } = loaded;
  const before = readSpec(folder);
  checkFolder(before);
  const { workspace, origin = workspace, recipe, agent, agents = {} } = before;
  (await recipeRow(recipe)).checkResume?.(recipe, workspace);
  const hidden = await foundAgain(before, request, loaded);
  const key = await keyFor(before, origin);
  // Agents that are given now replace the earlier ones.
  const kept = Object.entries(agents).filter(([role]) => !nets.fallbackAgents || !isFallback(role));
  const { escalateModel: model, fallbackAgents = [] } = nets;
  const stronger = { ...agent, model, flags: withoutFlag(agent.flags, MODEL_FLAGS) };
  const wanted = {
    ...Object.fromEntries(kept),
    ...netAgents({ fallbackAgents }, { agentFlags: [] }, {}),
    ...(model !== undefined && { [ESCALATED]: escalated(stronger) }),
  };
  // The same sandbox, unless another one is given; it may be gone by now.
  const sandbox = request.sandbox ?? before.sandbox?.kind ?? "none";
  const { unsheltered, ...checked } = await check(
    { ...before, limits: request.limits, origin, sandbox, agents: wanted, isContinued: true },
    settings,
  );
  const variables = variablesOf({ ...before, ...checked }, settings);
  const revealed = revealedSpec(before, withVariables(process.env, variables));
  requireSecrets(revealed);
  const spec: RunSpec = {
    ...revealed,
    limits: request.limits,
    ...(request.recipe && { recipe: request.recipe }),
    ...(keepBackground && { keepBackground }),
    sandbox: checked.sandbox,
    agents: checked.agents,
  };
  return { spec, settings, hidden, key, variables, warnings: [], unsheltered, isContinued: true };
}

interface Choices extends Pick<RunRequest, "recipe" | "limits" | "origin" | "agent"> {
  workspace: string;
  agents: Record<string, AgentChoice | AgentSpec>;
  sandbox: SandboxChoice;
  worktree?: string | boolean | undefined;
  isContinued?: boolean;
}

type Resolution = Pick<RunSpec, "agent" | "agents" | "sandbox"> & Pick<PreparedRun, "unsheltered">;

/** Checks what a new run and a resumed one have in common: limits, sandbox and agents. */
async function check(wanted: Choices, settings: Settings): Promise<Resolution> {
  const { recipe, limits, workspace, origin, isContinued } = wanted;
  const { mostIterations: most } = await recipeRow(recipe);
  if (most !== undefined && limits.maxIterations > most)
    throw invalid("--max-iterations", String(limits.maxIterations), `a whole number from 1 to ${most}`);
  const { spec: sandbox, kind, why } = await sandboxFor(wanted.sandbox, settings, workspace);
  const resolved = async (one: AgentChoice | AgentSpec, role?: string): Promise<AgentSpec> => {
    if ("words" in one) {
      if (isContinued) await checkAgent(one, settings, workspace, process.env, kind);
      return one;
    }
    const spec = await resolveAgent(one, settings, origin, process.env, kind);
    const [file = "", ...words] = spec.words;
    // A program with a relative path is the one of the checkout.
    if (wanted.worktree && file.includes("/")) spec.words = [resolve(origin, file), ...words];
    return role === ESCALATED ? escalated(spec) : spec;
  };
  const agent = await resolved(wanted.agent);
  const agents: Record<string, AgentSpec> = {};
  for (const [role, one] of Object.entries(wanted.agents)) agents[role] = await resolved(one, role);
  await checkSandbox({ agent, agents, sandbox, workspace }, settings);
  return { agent, ...(Object.keys(agents).length > 0 && { agents }), sandbox, unsheltered: why };
}

/** Warnings: what in the spec has no effect, and what the user may not expect. */
async function warningsOf(spec: RunSpec): Promise<string[]> {
  const { worktree, origin = "", baseline, protect = [], workspace, recipe, checks: speed } = spec;
  const inWorktree = worktree === undefined ? [] : await notInWorktree(origin, workspace, worktree);
  const warnings = new Set([...(await blindLimits(spec)), ...inWorktree]);
  if (protect.length > 0) {
    const { withoutFiles } = await import("../verify/protected/protection.js");
    for (const one of withoutFiles(protect, workspace)) warnings.add(`protect: no file matches ${one} yet`);
  }
  const inputs = Object.keys(speed?.inputs ?? {});
  if (!baseline && inputs.length === 0) return [...warnings];
  const checks = (await recipeRow(recipe)).checks?.(recipe, workspace);
  if (baseline && checks?.length === 0) warnings.add("--baseline: no check to run");
  // A command that differs from the check's own text speeds nothing up.
  for (const command of inputs.filter((input) => checks?.includes(input) === false)) {
    const meant = nearest(command, checks ?? []);
    const hint = meant === undefined ? "" : `; did you mean "${brief(meant)}"?`;
    warnings.add(`checkOptions.inputs: "${brief(command)}" is not a check of this run${hint}`);
  }
  return [...warnings];
}

/** Warns that a new worktree lacks the dependencies of the checkout: every check would fail, and every try costs. */
async function notInWorktree(origin: string, workspace: string, worktree: string): Promise<string[]> {
  // The settings and the list of files to copy come from the checkout as it is.
  const known = [`**/${RUNTIME_FOLDER}/**`, INCLUDE_FILE].map((path) => `:(top,exclude,glob)${path}`);
  const args = ["status", "--porcelain", "--untracked-files=normal", "--", ":/", ...known];
  const { stdout: dirty } = await git(origin, ["--no-optional-locks", ...args]);
  const lost = dirty !== "" && "the worktree does not have the uncommitted changes of this checkout";
  return [lost, setupHint(workspace, worktree, process.env)].filter((text) => typeof text === "string");
}

/** A limit that nothing can measure is worse than none, because it is trusted. */
async function blindLimits({ agent, agents = {}, limits, stream }: RunSpec): Promise<string[]> {
  const limited = { cost: limits.maxCostUsd !== null, tokens: limits.maxTokens !== null };
  const warnings: string[] = [];
  for (const { name, words, isFunction } of [agent, ...Object.values(agents)]) {
    if (isFunction) continue;
    const reported = stream ? (await agentFor(words[0] ?? "")).reports : [];
    const who = stream ? name : `${name} without its stream`;
    for (const what of ["cost", "tokens"] as const)
      if (limited[what] && !reported.includes(what))
        warnings.push(`${who} does not report its ${what}: --max-${what} cannot stop it, but --max-time can`);
  }
  return warnings;
}
