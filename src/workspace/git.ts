import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Capture, type CaptureOptions, capture } from "../process/run.js";
import { withOuterPath } from "../process/which.js";
import { textAt } from "./content.js";

/** For questions to a repository, however large it is. */
const GIT_TIMEOUT_MS = 2 * 60_000;

export type Config = [name: string, value: string][];

export interface GitOptions extends CaptureOptions {
  /** Variables on top of the usual ones. */
  env?: Record<string, string>;
  stdin?: string | Buffer;
  /** The user's hooks run, as with a commit in their name. */
  hooks?: boolean;
  /** Config above all others. */
  settings?: Config;
  /** For what it writes into the records. */
  makesPrivate?: boolean;
}

export type Git = (args: string[], options?: GitOptions) => Promise<Capture>;

/** `failed to read .git/worktrees/NAME/commondir`, `Invalid path '/…/.git/worktrees/NAME'`: in every language. */
const HALF_A_WORKTREE = /worktrees\/[^/\n]+(?:\/commondir|')/;
const MOST_TRIES = 8;
const FIRST_PAUSE_MS = 10;

/**
 * Runs git with its arguments as they are: nothing passes through a shell. Some commands read the records of every
 * worktree, and fail where another git is just making or removing one: they try again, and wait longer each time.
 */
export async function git(workspace: string, args: string[], options: GitOptions = {}): Promise<Capture> {
  for (let tries = 1; ; tries += 1) {
    const result = await gitOnce(workspace, args, options);
    if (result.ok || tries === MOST_TRIES || !HALF_A_WORKTREE.test(result.stderr)) return result;
    await sleep(FIRST_PAUSE_MS * 2 ** (tries - 1));
  }
}

function gitOnce(workspace: string, args: string[], options: GitOptions): Promise<Capture> {
  const { env: own, stdin, hooks = false, settings = [], makesPrivate = false, ...more } = options;
  const above = [
    ...settings,
    ...(startOf(workspace)?.settings ?? []),
    ...(inFolder(withheld, workspace) ?? []),
  ];
  const env = { ...waryEnvironment(workspace, hooks, above), ...own };
  return capture(
    { file: "git", args, cwd: workspace, env, makesPrivate, ...(stdin !== undefined && { stdin }) },
    { timeoutMs: GIT_TIMEOUT_MS, ...more },
  );
}

/** For commits where git knows no name of the user's. */
export const RALPH: Config = [
  ["user.name", "ralph"],
  ["user.email", "ralph@localhost"],
];
export const SOMEBODY = RALPH.flatMap(([name, value]) => ["-c", `${name}=${value}`]);

/** What git prints with `-z`. */
export function namesIn(stdout: string): string[] {
  return stdout.split("\0").filter(Boolean);
}

/** The same, two and two: such as how a file was changed, and its path. */
export function pairsIn(stdout: string): [string, string][] {
  const names = namesIn(stdout);
  return names.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, names[at + 1] ?? ""]] : []));
}

/** What git reads with `-z`. */
export function nulEnded(names: string[]): string {
  return names.map((name) => `${name}\0`).join("");
}

/** `a, b, c and 2 more` */
export function someOf(names: string[], max = 3): string {
  const more = names.length > max ? ` and ${names.length - max} more` : "";
  return `${names.slice(0, max).join(", ")}${more}`;
}

/** The commit of a branch or of HEAD as git's files say it, without a process. undefined: only git knows. */
export function looseCommit(workspace: string, name: string): string | undefined {
  const [common, own = common] = gitFolders(workspace);
  if (common === undefined || own === undefined) return undefined;
  const [folder, isName] =
    name === "HEAD" ? [own, true] : [common, /^refs\/heads\/(?!.*\.\.)[\w./-]+$/.test(name)];
  const text = isName ? textAt(join(folder, name)) : undefined;
  const [, branch] = /^ref: (refs\/heads\/.+)\n$/.exec(text ?? "") ?? [];
  if (branch !== undefined && name === "HEAD") return looseCommit(workspace, branch);
  return /^([0-9a-f]{40}|[0-9a-f]{64})\n$/.exec(text ?? "")?.[1];
}

/** The commit that is checked out; undefined: there is none. */
export async function headCommit(workspace: string): Promise<string | undefined> {
  const known = looseCommit(workspace, "HEAD");
  if (known !== undefined) return known;
  const { ok, stdout } = await git(workspace, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  return ok ? stdout.trim() : undefined;
}

/** A question on the terminal, as for the passphrase of a key, would block a loop that nobody watches. */
export function quietEnvironment(): NodeJS.ProcessEnv {
  return { ...withoutRepository(process.env), GIT_TERMINAL_PROMPT: "0", GPG_TTY: "" };
}

/**
 * The same for git: files that an agent wrote in the workspace name no programs, and are none. A folder with a HEAD
 * and a config would be a repository without a `.git`; git runs the filters of a submodule that it searches.
 */
export function waryEnvironment(workspace: string, hooks: boolean, more: Config = []): NodeJS.ProcessEnv {
  return withSettings(withOuterPath(quietEnvironment(), workspace), [
    ["safe.bareRepository", "explicit"],
    ["core.fsmonitor", "false"],
    ["diff.ignoreSubmodules", "dirty"],
    ...(hooks ? [] : ([["core.hooksPath", "/dev/null"]] satisfies Config)),
    ...(inFolder(lent, workspace) ?? []),
    ...more,
  ]);
}

/** The same environment, in which git has these settings above all others. */
export function withSettings(env: NodeJS.ProcessEnv, settings: Config): NodeJS.ProcessEnv {
  const first = Number(env["GIT_CONFIG_COUNT"]) || 0;
  const given = settings.flatMap(([name, value], at) => [
    [`GIT_CONFIG_KEY_${first + at}`, name],
    [`GIT_CONFIG_VALUE_${first + at}`, value],
  ]);
  return { ...env, ...Object.fromEntries(given), GIT_CONFIG_COUNT: String(first + settings.length) };
}

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

/** Where git keeps the records of a checkout; those of a worktree lie mostly with the repository. */
export function gitFolders(workspace: string): string[] {
  const root = repositoryRoot(workspace);
  if (root === undefined) return [];
  try {
    const own = realpathSync(gitFolder(root));
    return [...new Set([realpathSync(commonFolder(own)), own])];
  } catch {
    // `.git` leads nowhere.
    return [];
  }
}

/** Short name of the branch that is checked out; undefined: none is, or there is no repository. */
export function branchAt(workspace: string): string | undefined {
  const records = gitFolders(workspace).at(-1);
  const head = records === undefined ? undefined : textAt(join(records, "HEAD"));
  return /^ref: refs\/heads\/(.+)/.exec(head ?? "")?.[1];
}

/** The records of that checkout alone. In worktrees and submodules `.git` is a file that says where they are. */
export function gitFolder(root: string): string {
  const path = join(root, ".git");
  // Reading a pipe would block.
  if (!statSync(path).isFile()) return path;
  const text = readFileSync(path, "utf8").replace(/^gitdir: /, "");
  return resolve(root, text.replace(/\n+$/, ""));
}

/** The records that all checkouts of the repository share. */
export function commonFolder(records: string): string {
  return resolve(records, (textAt(join(records, "commondir")) ?? "").trim());
}

/** How a repository stood when the run in it began. It shows what an agent hides from git later. */
export interface Start {
  /** Top folder of the checkout. */
  root: string;
  /** The folder of git's records of that checkout. */
  records: string;
  /** What the user was in the middle of: the id of the operation. */
  operation: string | null;
  unmerged: string[];
  /** Files that git was told not to look at: assume-unchanged, skip-worktree. */
  flagged: string[];
  /** Submodules and other repositories that git knows. */
  links: string[];
  /** Those of them with uncommitted work. */
  dirtyLinks: string[];
  /** Repositories inside that git does not know; searched for where ralph commits. */
  inner: string[];
  /** Config that decide what git takes for a change. */
  settings: Config;
  /** A file in the run's folder with the patterns of `core.excludesFile` and `info/exclude`. */
  excludes: string;
}

/** By the top folder. */
const starts = new Map<string, Start>();
/** Config that leave filters out, by the top folder. */
const withheld = new Map<string, Config>();
/** Settings that ralph takes out of a repository's own while a run works in that folder. */
const lent = new Map<string, Config>();

/** git that ralph runs there has these settings until the result is called. */
export function lendSettings(folder: string, settings: Config): () => void {
  lent.set(folder, settings);
  return () => void lent.delete(folder);
}

export function rememberStart(start: Start): void {
  starts.set(start.root, start);
  removeScratch(start);
}

export function forgetStart(start: Start): void {
  starts.delete(start.root);
  removeScratch(start);
}

/** Also what a process left behind that was killed. */
function removeScratch({ excludes }: Start): void {
  const folder = dirname(excludes);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(SCRATCH)) : [];
  for (const name of names) rmSync(join(folder, name), { recursive: true, force: true });
}

/** undefined: no run of this process works there. */
export function startOf(folder: string): Start | undefined {
  return inFolder(starts, folder);
}

function inFolder<Value>(known: Map<string, Value>, folder: string): Value | undefined {
  for (const [root, value] of known) if (`${folder}/`.startsWith(`${root}/`)) return value;
  return undefined;
}

/** From now on git runs none of the filters that these settings name, where ralph runs it there. */
export function withholdFilters(folder: string, names: string[]): void {
  withheld.set(folder, withoutFilters(names));
}

/** Config that leave out the filters that settings of these names set up. */
export function withoutFilters(names: string[]): Config {
  const filters = new Set(names.flatMap((name) => /^filter\..*(?=\.)/s.exec(name)?.[0] ?? []));
  return [...filters].flatMap(
    (filter): Config => [
      ...["process", "clean", "smudge"].map((name): Config[number] => [`${filter}.${name}`, ""]),
      [`${filter}.required`, "false"],
    ],
  );
}

/** For `git ls-files`: what is not tracked, without what was ignored when the run began. `.gitignore` counts as it is now. */
export function untracked(folder: string): string[] {
  const start = startOf(folder);
  return start === undefined
    ? ["--others", "--exclude-standard"]
    : ["--others", "--exclude-per-directory=.gitignore", `--exclude-from=${start.excludes}`];
}

const SCRATCH = "ralph-index-";

/** A folder for files of ralph's own; that of a run is in the run's folder, and is removed when the run ends. */
export function scratchFolder(workspace: string): string {
  const start = startOf(workspace);
  const above = start === undefined || !existsSync(start.excludes) ? tmpdir() : dirname(start.excludes);
  return mkdtempSync(join(above, SCRATCH));
}
