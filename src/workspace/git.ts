import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Captured, type CaptureOptions, capture } from "../process/capture.js";
import { withOuterPath } from "../process/outer-path.js";
import { startOf } from "./start.js";
import { withheldIn } from "./withheld.js";

/** For looking at a repository, however large it is. */
const GIT_TIMEOUT_MS = 2 * 60_000;

export interface GitOptions extends CaptureOptions {
  /** Variables on top of the usual ones. */
  env?: Record<string, string>;
  stdin?: string | Buffer;
  /** Hooks of the user's run, as with a commit in their name. */
  hooks?: boolean;
  /** Settings above all others. */
  settings?: [name: string, value: string][];
}

/** Runs git with its arguments as they are: nothing passes through a shell. */
export function git(workspace: string, args: string[], options: GitOptions = {}): Promise<Captured> {
  const { env, stdin, hooks = false, settings, ...more } = options;
  const above = [...(settings ?? []), ...(startOf(workspace)?.settings ?? []), ...withheldIn(workspace)];
  const command = {
    file: "git",
    args,
    cwd: workspace,
    env: { ...waryEnvironment(workspace, hooks, above), ...env },
  };
  return capture(
    { ...command, ...(stdin !== undefined && { stdin }) },
    { timeoutMs: GIT_TIMEOUT_MS, ...more },
  );
}

/** For commits of ralph's own, where git knows no name of the user's. */
export const SOMEBODY = ["-c", "user.name=ralph", "-c", "user.email=ralph@localhost"];

/** A question on the terminal, as for the passphrase of a key, would hang a loop that nobody watches. */
export function quietEnvironment(): NodeJS.ProcessEnv {
  return { ...withoutRepository(process.env), GIT_TERMINAL_PROMPT: "0", GPG_TTY: "" };
}

/** The same for git: files that an agent wrote in the workspace name no programs, and are none. It holds in submodules, too. */
export function waryEnvironment(
  workspace: string,
  hooks: boolean,
  more: [name: string, value: string][] = [],
): NodeJS.ProcessEnv {
  const env = withOuterPath(quietEnvironment(), workspace);
  const first = Number(env["GIT_CONFIG_COUNT"]) || 0;
  const settings = [...WARY, ...(hooks ? [] : [["core.hooksPath", "/dev/null"] as const]), ...more];
  for (const [at, [name, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${first + at}`] = name;
    env[`GIT_CONFIG_VALUE_${first + at}`] = value;
  }
  return { ...env, GIT_CONFIG_COUNT: String(first + settings.length) };
}

/**
 * A folder with a HEAD and a config would be a repository without a `.git`, and a submodule that is looked into runs
 * its filters.
 */
const WARY = [
  ["safe.bareRepository", "explicit"],
  ["core.fsmonitor", "false"],
  ["diff.ignoreSubmodules", "dirty"],
] as const;

/** Set by git for its hooks: with them, git works on that repository and not on the one of the folder. */
const REPOSITORY_VARIABLES = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_COMMON_DIR",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_NAMESPACE",
  "GIT_PREFIX",
];

/** For everything that is to work in the folder it is started in. */
export function withoutRepository(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = { ...env };
  for (const name of REPOSITORY_VARIABLES) delete own[name];
  return own;
}

/** Top folder of the repository that the workspace is in, or undefined. */
export function repositoryRoot(workspace: string): string | undefined {
  if (existsSync(join(workspace, ".git"))) return workspace;
  const above = dirname(workspace);
  return above === workspace ? undefined : repositoryRoot(above);
}
