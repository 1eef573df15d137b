import type { Agent, Permissions } from "../agents/agent.js";
import type { RecipeSpec } from "../recipes/registry.js";
import type { RunFolder } from "../records/runs.js";
import type { SpecRecord } from "../records/spec.js";
import type { SandboxSpec } from "../sandbox/sandbox.js";
import type { Speed } from "../verify/speed.js";

/** Everything that a run needs to be started, and to be started again. Secrets are not part of it. */
export interface RunSpec extends SpecRecord {
  /** Untracked files that were copied into it, from its top folder on. */
  copied?: string[] | undefined;
  /** How its agent gets the prompt, where it has a terminal. */
  promptVia?: "stdin" | "keys" | undefined;
  /** Its own id, if other loops may work in the same folder. */
  sharedBy?: string | undefined;
  /** The commit that was checked out at the start. */
  base?: string | undefined;
  recipe: RecipeSpec;
  agent: AgentSpec;
  /** Others that the recipe asks, by their roles. */
  agents?: Record<string, AgentSpec> | undefined;
  /** Whether the checks are run before the first iteration. */
  baseline?: boolean | undefined;
  /** What agents and checks leave running is left alone. */
  keepBackground?: boolean | undefined;
  /** How checks are made quicker. */
  checks?: Speed | undefined;
  /** Patterns of files that agents may not change. */
  protect?: string[] | undefined;
  /** What the agents are shut into. */
  sandbox?: SandboxSpec | undefined;
  /** Whether the agent's steps are read as they happen, or its final answer alone. */
  stream: boolean;
  /** Settings file that was named by the user. */
  config?: string | undefined;
}

export interface AgentSpec {
  /** What the user calls it. */
  name: string;
  words: string[];
  flags: string[];
  model?: string | undefined;
  permissions: Permissions;
  /** It is a function of a program: there is nothing to start again. */
  isFunction?: boolean | undefined;
  /** What `--agent` said, to find its variables in the settings again. */
  requested?: string | undefined;
}

/** Whether an agent gets the terminal of a window, where there is one. */
export function usesTerminal(agent: Agent["name"], promptVia: RunSpec["promptVia"]): boolean {
  return agent === "command" || promptVia === "keys";
}

/** As it is needed to go on: secrets are put back where this environment has them. */
export function readSpec(folder: RunFolder): RunSpec {
  return folder.spec() as RunSpec;
}
