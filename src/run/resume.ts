import { existsSync } from "node:fs";
import { MODEL_FLAGS, withoutFlag } from "../agents/flags.js";
import { RalphError } from "../errors.js";
import type { Limits } from "../events.js";
import { isFallback } from "../loop/ask.js";
import { limitReached } from "../loop/run.js";
import { type RecipeSpec, recipeRow } from "../recipes/registry.js";
import { repairJournal } from "../records/journal.js";
import { ESCALATED, OWN_AGENT } from "../records/limited.js";
import { initialState, type RunState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import { requireSecrets, revealedSpec } from "../records/spec.js";
import type { SandboxChoice } from "../sandbox/choose.js";
import type { LoadedSettings } from "../settings/load.js";
import { isSuccess } from "../stop-reasons.js";
import { howToResume, spentOf } from "../views/summary.js";
import {
  type AgentChoice,
  checkAgent,
  escalated,
  type Nets,
  netAgents,
  resolveAgent,
  variablesOf,
  withVariables,
} from "./agent-spec.js";
import type { PreparedRun } from "./context.js";
import { checkIterations } from "./flags.js";
import { checkSandbox, sandboxFor } from "./sandbox.js";
import { type AgentSpec, type RunSpec, readSpec } from "./spec.js";
import { checkFolder } from "./target.js";

/** What is asked of a run that goes on; what is left out stays as it was. */
export interface ResumeRequest {
  limits: Limits;
  recipe?: RecipeSpec | undefined;
  sandbox?: SandboxChoice | undefined;
  nets?: Nets | undefined;
  keepBackground?: boolean | undefined;
}

/** Makes a run ready that goes on. */
export async function prepareResume(
  folder: RunFolder,
  request: ResumeRequest,
  { settings }: LoadedSettings,
): Promise<PreparedRun> {
  const before = readSpec(folder);
  const { workspace, origin = workspace, recipe, agent } = before;
  checkFolder(before);
  const row = await recipeRow(recipe);
  checkIterations(request.limits, row.mostIterations);
  // The one it had, unless another one is asked for; it may be gone by now.
  const choice = request.sandbox ?? before.sandbox?.kind ?? "none";
  const sandbox = await sandboxFor(choice, settings, workspace);
  row.checkResume?.(recipe, workspace);
  const agents = await resumedAgents(before, request.nets ?? {}, (one) =>
    resolveAgent(one, settings, origin, process.env, sandbox.kind),
  );
  const variables = variablesOf({ agent, agents }, settings);
  for (const [role, one] of Object.entries({ [OWN_AGENT]: agent, ...agents }))
    await checkAgent(one, settings, workspace, { ...process.env, ...variables[role] }, sandbox.kind);
  const revealed = revealedSpec(before, withVariables(process.env, variables));
  requireSecrets(revealed);
  const spec: RunSpec = {
    ...revealed,
    limits: request.limits,
    agents,
    ...(request.recipe && { recipe: request.recipe }),
    sandbox: sandbox.spec,
    ...(request.keepBackground && { keepBackground: true }),
  };
  await checkSandbox(spec, { ...process.env, ...variables[OWN_AGENT] });
  return { spec, settings, variables, warnings: [], unsheltered: sandbox.why, isContinued: true };
}

/** The other agents of a run that goes on: those that are given now take the place of those of then. */
async function resumedAgents(
  { agent, agents = {} }: RunSpec,
  { fallbackAgents, escalateModel: model }: Nets,
  resolve: (choice: AgentChoice) => Promise<AgentSpec>,
): Promise<RunSpec["agents"]> {
  const all = Object.fromEntries(
    Object.entries(agents).filter(([role]) => fallbackAgents === undefined || !isFallback(role)),
  );
  for (const [role, one] of Object.entries(netAgents({ fallbackAgents }, { agentFlags: [] })))
    all[role] = await resolve(one);
  if (model !== undefined)
    all[ESCALATED] = escalated({ ...agent, model, flags: withoutFlag(agent.flags, MODEL_FLAGS) });
  return Object.keys(all).length === 0 ? undefined : all;
}

/** Read when nobody else can be writing it. */
export function stateToContinue(folder: RunFolder, limits: Limits): RunState {
  const setAside = existsSync(folder.journal) ? repairJournal(folder.journal) : undefined;
  if (setAside !== undefined)
    process.stderr.write(`ralph: warning: the journal had unreadable lines; it was kept as ${setAside}\n`);
  const state = folder.state() ?? initialState(folder.id);
  if (state.success) {
    throw new RalphError(`run ${folder.id} is completed`, {
      code: "run_completed",
      hint: "start a new one with ralph run",
    });
  }
  // What was killed before it was closed, or answered and not verified, comes to its end first.
  const isOpen = state.status !== "finished" || state.answer !== undefined;
  const reason = isOpen || isSuccess(state.stop) ? undefined : limitReached(state, limits);
  if (reason === undefined) return state;
  const spent = spentOf(state, limits, reason);
  throw new RalphError(`run ${folder.id} has reached its limit (${reason}): ${spent}`, {
    code: "limit_reached",
    hint: `raise it: ${howToResume(folder.id, { reason })}`,
  });
}
