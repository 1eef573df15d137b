import { basename } from "node:path";
import { isGiven, MODEL_FLAGS, withoutFlag } from "../agents/flags.js";
import { AGENT_NAMES, agentFor, isAgentName } from "../agents/index.js";
import { RalphError } from "../errors.js";
import { fallbackRole } from "../loop/ask.js";
import { nearest } from "../nearest.js";
import { which } from "../process/which.js";
import { ESCALATED, OWN_AGENT } from "../records/limited.js";
import type { SandboxKind } from "../sandbox/sandbox.js";
import { loopSection } from "../settings/load.js";
import type { AgentProfile, Settings } from "../settings/schema.js";
import { quoteWord, splitWords } from "../words.js";
import type { AgentSpec, RunSpec } from "./spec.js";

export interface AgentChoice {
  /** `--agent`: a known agent, a profile, or a command line. */
  agent?: string | undefined;
  model?: string | undefined;
  agentFlags: string[];
}

type Environment = NodeJS.ProcessEnv;

/** Which agent is asked, and with what. Everything that would fail at its first start fails here. */
export async function resolveAgent(
  choice: AgentChoice,
  settings: Settings,
  workspace: string,
  env: Environment,
  sandbox: SandboxKind = "none",
): Promise<AgentSpec> {
  const { agent, model, agentFlags } = choice;
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
  await checkAgent(spec, settings, workspace, { ...env, ...profile.env }, sandbox);
  return spec;
}

/** Refuses an agent that could not be started, before anything is. */
export async function checkAgent(
  spec: AgentSpec,
  settings: Settings,
  workspace: string,
  env: Environment,
  sandbox: SandboxKind,
): Promise<void> {
  if (spec.isFunction) {
    throw new RalphError(`the agent of this run is a function of a program: ${spec.name}`, {
      code: "agent_is_function",
      hint: "start a new run from that program; what was done so far is in the files",
    });
  }
  const program = spec.words[0] ?? "";
  // In a virtual machine are other programs than here.
  const isElsewhere = sandbox === "docker" && program !== "";
  const file = isElsewhere ? program : locate(program, workspace, env, Object.keys(settings.agents ?? {}));
  const agent = await agentFor(file);
  if (spec.model !== undefined && !agent.takesModel) {
    const hint = isAgentName(spec.name)
      ? `${spec.name} chooses its model by itself: give its own flag with --agent-flag`
      : "put the model into the command itself";
    throw new RalphError(`agent ${spec.name} takes no --model`, { code: "model_not_taken", hint });
  }
  if (agent.refusesRoot && sandbox === "none") refuseRoot(spec, env);
}

/** Variables for agents alone, by their roles. They come from the settings each time and are never written down. */
export type AgentVariables = Record<string, Record<string, string>>;

export function variablesOf(
  { agent, agents }: Pick<RunSpec, "agent" | "agents">,
  settings: Settings,
): AgentVariables {
  return mapValues({ ...agents, [OWN_AGENT]: agent }, (one) => agentEnvironment(one, settings));
}

export function mapValues<From, To>(
  values: Record<string, From>,
  map: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

export function agentEnvironment({ requested }: AgentSpec, settings: Settings): Record<string, string> {
  return (profileFor(requested, settings) ?? settings.agent)?.env ?? {};
}

/** All of them on top of an environment; those of the run's own agent win. */
export function withVariables(env: Environment, variables: AgentVariables): Environment {
  return Object.assign({ ...env }, ...Object.values(variables), variables[OWN_AGENT]);
}

/** Who takes over when an agent is limited, down or stuck. */
export interface Nets {
  fallbackAgents?: string[] | undefined;
  escalateModel?: string | undefined;
}

/** What is given, else what the settings say; their model is for the agent that they name, and for no other. */
export function netsFor({ agent, ...given }: Nets & Pick<AgentChoice, "agent">, settings: Settings): Nets {
  const { fallback_agents, escalate_model } = loopSection(settings);
  return {
    fallbackAgents: given.fallbackAgents ?? fallback_agents,
    escalateModel: given.escalateModel ?? (agent === undefined ? escalate_model : undefined),
  };
}

/** The agents that take over, by their roles. */
export function netAgents(
  { fallbackAgents = [], escalateModel }: Nets,
  own: AgentChoice,
): Record<string, AgentChoice> {
  const fallbacks = fallbackAgents.map((agent, index) => [fallbackRole(index), { agent, agentFlags: [] }]);
  // A model among the agent's own flags would win.
  const flags = withoutFlag(own.agentFlags.flatMap(splitWords), MODEL_FLAGS).map(quoteWord);
  return {
    ...Object.fromEntries(fallbacks),
    ...(escalateModel !== undefined && {
      [ESCALATED]: { ...own, agentFlags: flags, model: escalateModel },
    }),
  };
}

/** The same agent with another model is called by both. */
export function escalated(agent: AgentSpec): AgentSpec {
  return { ...agent, name: `${agent.name} (${agent.model})` };
}

/** `build` is what files and examples from elsewhere call the agent that works when none was chosen. */
export function unlessDefault(agent: string | undefined, settings: Settings): string | undefined {
  return agent === "build" && ownProfile(agent, settings) === undefined ? undefined : agent;
}

/** `constructor` is no profile. */
function ownProfile(name: string, { agents = {} }: Settings): AgentProfile | undefined {
  return Object.hasOwn(agents, name) ? agents[name] : undefined;
}

/** undefined when nobody has said which agent. */
function profileFor(requested: string | undefined, settings: Settings): AgentProfile | undefined {
  const wanted = requested ?? settings.agent?.command;
  if (wanted === undefined) return undefined;
  const profile = ownProfile(wanted, settings) ?? { command: wanted };
  if (wanted !== settings.agent?.command) return profile;
  return { ...profile, ...settings.agent, command: profile.command };
}

function onlyKnownAgent(env: Environment, workspace: string): string {
  const found = AGENT_NAMES.filter((name) => which(name, workspace, env["PATH"]).status === "found");
  if (found.length === 1) return found[0] as string;
  const what =
    found.length === 0
      ? `no agent is configured, and none of ${AGENT_NAMES.join(", ")} is on PATH`
      : `no agent is configured, and several are on PATH: ${found.join(", ")}`;
  throw new RalphError(what, {
    code: "agent_unknown",
    hint: "choose one with --agent NAME, or as agent.command in .ralph/settings.json",
  });
}

function locate(program: string, workspace: string, env: Environment, profiles: string[]): string {
  const found = which(program, workspace, env["PATH"]);
  if (found.status === "found") return found.path;
  if (found.status === "not_executable") {
    throw new RalphError(`agent is not executable: ${found.path}`, {
      code: "agent_not_executable",
      hint: `chmod +x ${found.path}`,
    });
  }
  const meant = nearest(program, [...AGENT_NAMES, ...profiles]);
  const known = `known agents: ${AGENT_NAMES.join(", ")}`;
  throw new RalphError(`agent not found: ${program || "(empty)"}`, {
    code: "agent_not_found",
    hint:
      meant === undefined || meant === program
        ? `install it or give its path; ${known}`
        : `did you mean ${meant}? ${known}`,
  });
}

/** Claude Code would refuse in every iteration, after ralph has begun. */
function refuseRoot({ permissions, flags, words }: AgentSpec, env: Environment): void {
  const skips = permissions === "unattended" || permissions === "all";
  const own = [...words.slice(1), ...flags];
  if (!skips || isGiven(own, ["--permission-mode"]) || process.getuid?.() !== 0 || env["IS_SANDBOX"] === "1")
    return;
  throw claudeAsRoot();
}

export function claudeAsRoot(): RalphError {
  return new RalphError("Claude Code does not skip permissions when it runs as root", {
    code: "claude_as_root",
    hint: 'run ralph as another user, or with --sandbox; in a container set IS_SANDBOX=1; or set agent.permissions to "edits"',
  });
}
