import { basename, join } from "node:path";
import { isGiven, MODEL_FLAGS, withoutFlag } from "../agents/agent.js";
import { AGENT_NAMES, agentFor, isAgentName } from "../agents/index.js";
import { RalphError } from "../errors.js";
import { fallbackRole } from "../loop/ask.js";
import { which } from "../process/which.js";
import { ESCALATED, OWN_AGENT } from "../records/limited.js";
import { createRedactor, type Redact } from "../records/redact.js";
import { RUN_VARIABLE, type RunFolder } from "../records/runs.js";
import type { SandboxKind } from "../sandbox/sandbox.js";
import type { AgentProfile, LoopSettings, Settings } from "../settings/schema.js";
import { nearest, quoteWord, splitWords } from "../words.js";
import { withoutCredentials } from "../workspace/credentials.js";
import { withoutRepository } from "../workspace/git.js";
import type { AgentChoice, AgentSpec, AgentVariables, Nets, RunSpec } from "./spec.js";

type Environment = NodeJS.ProcessEnv;

/** Resolves which agent to call, and with what. Everything that would fail at its first start fails here. */
export async function resolveAgent(
  { agent, model, agentFlags }: AgentChoice,
  settings: Settings,
  workspace: string,
  env: Environment,
  sandbox: SandboxKind = "none",
): Promise<AgentSpec> {
  const profile = profileFor(agent, settings) ?? {
    ...settings.agent,
    command: onlyKnownAgent(env, workspace),
  };
  const words = splitWords(profile.command);
  const given = (profile.flags ?? []).flatMap(splitWords);
  // A model on the command line wins over one among the flags of the settings.
  const flags = model === undefined ? given : withoutFlag(given, MODEL_FLAGS);
  const spec: AgentSpec = {
    name: agent !== undefined && ownProfile(agent, settings) ? agent : basename(words[0] ?? ""),
    words,
    flags: [...flags, ...agentFlags.flatMap(splitWords)],
    model: model ?? profile.model,
    permissions: profile.permissions ?? "unattended",
    requested: agent,
  };
  await checkAgent(spec, settings, workspace, env, sandbox);
  return spec;
}

/** Refuses an agent that cannot be started, before anything starts. */
export async function checkAgent(
  spec: AgentSpec,
  settings: Settings,
  workspace: string,
  outer: Environment,
  sandbox: SandboxKind,
): Promise<void> {
  if (spec.isFunction)
    throw new RalphError(`the agent of this run is a function of a program: ${spec.name}`, {
      code: "agent_is_function",
      hint: "start a new run from that program; the files contain the work so far",
    });
  const env = { ...outer, ...agentEnvironment(spec, settings) };
  const { name, words, flags, model, permissions } = spec;
  const [program = "", ...own] = words;
  // A virtual machine has other programs than this machine.
  const isElsewhere = sandbox === "docker" && program !== "";
  const file = isElsewhere ? program : locate(program, workspace, env, settings);
  const agent = await agentFor(file);
  if (model !== undefined && !agent.takesModel) {
    const hint = isAgentName(name)
      ? `${name} chooses its model by itself: give its own flag with --agent-flag`
      : "put the model into the command itself";
    throw new RalphError(`agent ${name} takes no --model`, { code: "model_not_taken", hint });
  }
  // Claude Code would refuse in every iteration, long after the start.
  const skips = permissions === "unattended" || permissions === "all";
  const mayBeRoot = !agent.refusesRoot || sandbox !== "none" || !skips || env["IS_SANDBOX"] === "1";
  if (!mayBeRoot && process.getuid?.() === 0 && !isGiven([...own, ...flags], ["--permission-mode"]))
    throw claudeAsRoot();
}

export function claudeAsRoot(): RalphError {
  return new RalphError("Claude Code does not skip permissions when it runs as root", {
    code: "claude_as_root",
    hint: 'run ralph as another user, or with --sandbox; in a container set IS_SANDBOX=1; or set agent.permissions to "edits"',
  });
}

export function variablesOf({ agent, agents }: RunSpec, settings: Settings): AgentVariables {
  const all = Object.entries({ ...agents, [OWN_AGENT]: agent });
  return Object.fromEntries(all.map(([role, one]) => [role, agentEnvironment(one, settings)]));
}

export function agentEnvironment({ requested }: AgentSpec, settings: Settings): Record<string, string> {
  return (profileFor(requested, settings) ?? settings.agent)?.env ?? {};
}

/** Adds all of them to an environment; those of the run's own agent win. */
export function withVariables(env: Environment, variables: AgentVariables): Environment {
  return Object.assign({ ...env }, ...Object.values(variables), variables[OWN_AGENT]);
}

/** The agents that take over, by role: those given, else the settings'. Its model is for its agent alone. */
export function netAgents(
  { fallbackAgents, escalateModel }: Nets,
  own: AgentChoice,
  { agent, fallback_agents = [], escalate_model }: LoopSettings,
): Record<string, AgentChoice> {
  const fallbacks = fallbackAgents ?? fallback_agents;
  const isOfSettings = own.agent === undefined || own.agent === agent;
  const model = escalateModel ?? (isOfSettings ? escalate_model : undefined);
  // A model among the agent's own flags would win.
  const agentFlags = withoutFlag(own.agentFlags.flatMap(splitWords), MODEL_FLAGS).map(quoteWord);
  return {
    ...Object.fromEntries(fallbacks.map((name, at) => [fallbackRole(at), { agent: name, agentFlags: [] }])),
    ...(model !== undefined && { [ESCALATED]: { ...own, agentFlags, model } }),
  };
}

/** The same agent with another model carries both names. */
export function escalated(agent: AgentSpec): AgentSpec {
  return { ...agent, name: `${agent.name} (${agent.model})` };
}

/** Files and examples from elsewhere call the default agent `build`. */
export function unlessDefault(agent: string | undefined, settings: Settings): string | undefined {
  return agent === "build" && ownProfile(agent, settings) === undefined ? undefined : agent;
}

/** Own keys only: `constructor` is no profile. */
function ownProfile(name: string, { agents = {} }: Settings): AgentProfile | undefined {
  return Object.hasOwn(agents, name) ? agents[name] : undefined;
}

/** undefined when no flag and no setting names an agent. */
function profileFor(requested: string | undefined, settings: Settings): AgentProfile | undefined {
  const wanted = requested ?? settings.agent?.command;
  if (wanted === undefined) return undefined;
  const profile = ownProfile(wanted, settings) ?? { command: wanted };
  if (wanted !== settings.agent?.command) return profile;
  return { ...profile, ...settings.agent, command: profile.command };
}

function onlyKnownAgent(env: Environment, workspace: string): string {
  const found = AGENT_NAMES.filter((name) => which(name, workspace, env["PATH"]).status === "found");
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const what =
    only === undefined
      ? `none of ${AGENT_NAMES.join(", ")} is on PATH`
      : `several are on PATH: ${found.join(", ")}`;
  throw new RalphError(`no agent is configured, and ${what}`, {
    code: "agent_unknown",
    hint: "choose one with --agent NAME, or as agent.command in .ralph/settings.json",
  });
}

function locate(program: string, workspace: string, env: Environment, { agents = {} }: Settings): string {
  const found = which(program, workspace, env["PATH"]);
  if (found.status === "found") return found.path;
  if (found.status === "not_executable")
    throw new RalphError(`agent is not executable: ${found.path}`, {
      code: "agent_not_executable",
      hint: `chmod +x ${found.path}`,
    });
  const meant = nearest(program, [...AGENT_NAMES, ...Object.keys(agents)]);
  const isTypo = meant !== undefined && meant !== program;
  const what = isTypo ? `did you mean ${meant}?` : "install it or give its path;";
  throw new RalphError(`agent not found: ${program || "(empty)"}`, {
    code: "agent_not_found",
    hint: `${what} known agents: ${AGENT_NAMES.join(", ")}`,
  });
}

/** The environment of the agents and checks of a run, without what the agents alone are given. */
export function ownEnvironment({ id, path }: RunFolder, variables: AgentVariables): Environment {
  const named = Object.values(variables).flatMap(Object.keys);
  const own = withoutCredentials(withoutRepository(process.env), join(path, "no-login"), named);
  return { ...own, [RUN_VARIABLE]: id };
}

/** Hides what the variables hold, wherever the run writes or shows something. */
export function redactorFor(variables: AgentVariables, ...secrets: string[]): Redact {
  const own = Object.values(variables).flatMap((one) => Object.values(one));
  return createRedactor(withVariables(process.env, variables), [...own, ...secrets]);
}
