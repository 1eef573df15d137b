import type { Permissions } from "../agents/agent.js";
import { RalphError } from "../errors.js";
import type { Limits } from "../events.js";
import type { ChecksSpec } from "../recipes/checks/checks.js";
import type { PromptSpec } from "../recipes/prompt/prompt.js";
import { writeAtomic } from "../state/files.js";
import { createRedactor, nameSecrets, redactDeep, revealSecrets } from "../state/redact.js";
import { type RunFolder, readSpecText } from "../state/runs.js";

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
  /** The commit that was checked out at the start. */
  base?: string | undefined;
  recipe: PromptSpec | ChecksSpec;
  agent: AgentSpec;
  limits: Limits;
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
  const missing = /\[secret:(\w+)\]/.exec(JSON.stringify({ ...spec.recipe, ...spec.agent }))?.[1];
  if (missing === undefined && spec.isIncomplete !== true) return spec;
  throw new RalphError(`run ${folder.id} used a secret that was not kept`, {
    code: "secret_gone",
    hint:
      missing === undefined
        ? "start it anew, with the secret in a variable or a file"
        : `set ${missing} again`,
  });
}

export function readSpec(folder: RunFolder): RunSpec {
  const damaged = new RalphError(`the record of run ${folder.id} cannot be read: ${folder.spec}`, {
    code: "spec_damaged",
    hint: "start a new run; the old record is left as it is",
  });
  try {
    const value: unknown = redactDeep(JSON.parse(readSpecText(folder)), revealSecrets(process.env));
    if (isSpec(value)) return value;
  } catch {
    throw damaged;
  }
  throw damaged;
}

/** The file is ralph's own and is replaced as a whole: the version tells whether it can be understood. */
function isSpec(value: unknown): value is RunSpec {
  return typeof value === "object" && value !== null && "v" in value && value.v === 1 && "recipe" in value;
}
