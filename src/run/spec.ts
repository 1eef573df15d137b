import type { Agent, Permissions } from "../agents/agent.js";
import { RalphError } from "../errors.js";
import type { Limits } from "../events.js";
import type { RecipeSpec } from "../recipes/registry.js";
import { writeAtomic } from "../records/files.js";
import { createRedactor, nameSecrets, redactDeep, revealSecrets } from "../records/redact.js";
import { type RunFolder, readSpecText } from "../records/runs.js";
import { has } from "../records/shape.js";
import type { SandboxSpec } from "../sandbox/sandbox.js";
import type { Speed } from "../verify/speed.js";

/** Everything that a run needs to be started, and to be started again. Secrets are not part of it. */
export interface RunSpec {
  v: 1;
  id: string;
  createdAt: string;
  workspace: string;
  /** Where it was started, if it works elsewhere. */
  origin?: string | undefined;
  /** Its own worktree, if it has one: the top folder. */
  worktree?: string | undefined;
  /** Untracked files that were copied into it, from its top folder on. */
  copied?: string[] | undefined;
  /** The worker that it is the loop of. */
  worker?: string | undefined;
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
  limits: Limits;
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
  /** A token that stands in no variable was left out: the run cannot be continued as it was. */
  isIncomplete?: boolean | undefined;
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

/** Secrets in it are kept as the names of their variables. */
export function writeSpec(folder: RunFolder, spec: RunSpec, env: NodeJS.ProcessEnv): void {
  const named = redactDeep(spec, nameSecrets(env));
  const clean = redactDeep(named, createRedactor({}));
  const isIncomplete = JSON.stringify(clean) !== JSON.stringify(named) || undefined;
  writeAtomic(folder.spec, `${JSON.stringify({ ...clean, isIncomplete }, null, 2)}\n`);
}

/** The spec as it was given, with the secrets of this environment in it. */
export function specToContinue(folder: RunFolder, env: NodeJS.ProcessEnv): RunSpec {
  const spec = redactDeep(readSpec(folder), revealSecrets(env));
  const missing = /\[secret:(\w+)\]/.exec(JSON.stringify([spec.recipe, spec.agent, spec.agents]))?.[1];
  if (missing === undefined && spec.isIncomplete !== true) return spec;
  throw new RalphError(`run ${folder.id} used a secret that was not kept`, {
    code: "secret_gone",
    hint:
      missing === undefined
        ? "start it anew, with the secret in a variable or a file"
        : `set ${missing} again`,
  });
}

/** As it is needed to go on: secrets are put back where this environment has them. */
export function readSpec(folder: RunFolder): RunSpec {
  return redactDeep(shownSpec(folder), revealSecrets(process.env));
}

/** As it may be shown. */
export function shownSpec(folder: RunFolder): RunSpec {
  let value: unknown;
  try {
    value = JSON.parse(readSpecText(folder));
  } catch (error) {
    throw damaged(folder, "cannot be read", error);
  }
  if (isSpec(value)) return value;
  const isNewer = has(value, { v: "number" }) && Number(value["v"]) > 1;
  throw damaged(folder, isNewer ? "was made by a newer ralph" : "cannot be read");
}

function damaged(folder: RunFolder, what: string, cause?: unknown): RalphError {
  return new RalphError(`the record of run ${folder.id} ${what}: ${folder.spec}`, {
    code: "spec_damaged",
    hint: "start a new run; the old record is left as it is",
    cause,
  });
}

/** The file is ralph's own and is replaced as a whole: what matters is there, or it is damaged. */
function isSpec(value: unknown): value is RunSpec {
  return (
    has(value, {
      workspace: "string",
      createdAt: "string",
      recipe: "object",
      agent: "object",
      limits: "object",
    }) &&
    value["v"] === 1 &&
    has(value["recipe"], { kind: "string" }) &&
    has(value["agent"], { name: "string", words: "array" })
  );
}
