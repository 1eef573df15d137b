import { constants, copyFileSync, cpSync, existsSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../../errors.js";
import { capture } from "../../process/run.js";
import { createRedactor } from "../../records/redact.js";
import { withoutCredentials } from "../credentials.js";
import { git, gitFolders, headCommit, namesIn, quietEnvironment, repositoryRoot, someOf } from "../git.js";
import { removeOwnWorktree } from "../landing/checkout.js";
import { notIgnored, oneLine, ownGit, requireFreeName, type Worktree, whatIsAt } from "./worktree.js";

/** How a new worktree is made ready. */
export interface Setup {
  /** The commit that it begins with; left out: the one that is checked out. */
  from?: string | undefined;
  /** Shell command of the settings. */
  command: string | undefined;
  timeoutMs: number;
  /** Aborted: nothing is made. */
  signal: AbortSignal | undefined;
  /** What the command sees; left out: the user's environment without credentials. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Which of the lanes of a run it is for. */
  slot?: number | undefined;
  /** What the user should know while it lasts. */
  tell(text: string): void;
}

/** All or nothing; the user's checkout is not touched. Returns the files that were copied into it. */
export async function createWorktree(origin: string, worktree: Worktree, setup: Setup): Promise<string[]> {
  const { path, branch } = worktree;
  const from = setup.from ?? (await headCommit(origin));
  if (from === undefined) {
    throw new RalphError("a worktree needs a commit, and this repository has none", {
      code: "no_commit",
      hint: "commit something first",
    });
  }
  // Of two runs that want the same name at the same moment, one gets the branch.
  const made = await git(origin, ["update-ref", `refs/heads/${branch}`, from, ""]);
  if (!made.ok) {
    await requireFreeName(origin, branch);
    throw failed(`cannot create the branch ${branch}`, made.stderr);
  }
  const isFree = whatIsAt(origin, path) === undefined;
  try {
    if (!isFree) throw failed("cannot create the worktree", `${path} is taken`);
    const copied = await fill(origin, worktree, setup);
    if (setup.signal?.aborted) throw interrupted();
    return copied;
  } catch (error) {
    if (isFree) await removeOwnWorktree(origin, path);
    await git(origin, ["update-ref", "-d", `refs/heads/${branch}`, from]);
    throw setup.signal?.aborted ? interrupted() : error;
  }
}

async function fill(origin: string, { path, branch, workspace }: Worktree, setup: Setup): Promise<string[]> {
  const { signal: stop, timeoutMs } = setup;
  const args = ["worktree", "add", "--quiet", path, branch];
  const add = () => git(origin, args, { timeoutMs, hooks: true, ...(stop && { stop }) });
  let added = await add();
  for (let tries = 0; tries < 20 && (await isHalfMade(origin, added.stderr)); tries += 1) added = await add();
  if (!added.ok) {
    // git leaves no worktree behind when it fails by itself.
    const isHook = added.exitCode !== null && existsSync(join(path, ".git"));
    const why = isHook ? `\nthe hook post-checkout ended with exit ${added.exitCode}` : "";
    throw failed("cannot create the worktree", `${added.stderr}${why}`);
  }
  const copied = await copyIncluded(repositoryRoot(origin) ?? origin, path);
  const loose = await notIgnored(ownGit(path, stop), copied);
  const what = `copied into the worktree, but not ignored by git: ${someOf(loose)}`;
  if (loose.length > 0) setup.tell(`warning: ${what}; ralph does not commit it`);
  await runSetup(workspace, setup);
  return copied;
}

const HALF_MADE_MS = 5000;

/** A kill of git in the middle leaves a worktree for which git refuses all others. A new one may be in the making. */
async function isHalfMade(origin: string, stderr: string): Promise<boolean> {
  const [, name] = /failed to read .*\/worktrees\/([^/]+)\/commondir/.exec(stderr) ?? [];
  const folder = join(gitFolders(origin)[0] ?? "", "worktrees", name ?? "");
  if (name === undefined || !existsSync(folder)) return false;
  if (Date.now() - lstatSync(folder).mtimeMs < HALF_MADE_MS) await sleep(HALF_MADE_MS / 10);
  else rmSync(folder, { recursive: true });
  return true;
}

/** Makes a checkout ready that git has made. Returns the files that were copied into it. */
export async function makeReady(from: string, path: string, at: string, setup: Setup): Promise<string[]> {
  const copied = await copyIncluded(repositoryRoot(from) ?? from, path);
  await runSetup(at, setup);
  return copied;
}

export const INCLUDE_FILE = ".worktreeinclude";

/**
 * Copies untracked files that work needs, such as `.env`: the patterns are those of `.gitignore`. What is there
 * already is left as it is. Returns what was copied.
 */
async function copyIncluded(from: string, to: string): Promise<string[]> {
  if (!existsSync(join(from, INCLUDE_FILE))) return [];
  const list = ["ls-files", "--others", "--ignored", `--exclude-from=${INCLUDE_FILE}`, "-z"];
  const { ok, stdout, stderr } = await git(from, list);
  if (!ok) throw new RalphError(`cannot use ${INCLUDE_FILE}: ${stderr.trim()}`, { code: "include_file" });
  return namesIn(stdout).filter((file) => {
    const [source, target] = [join(from, file), join(to, file)];
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return false;
    mkdirSync(dirname(target), { recursive: true });
    if (lstatSync(source).isFile()) copyFileSync(source, target, constants.COPYFILE_FICLONE);
    else
      cpSync(source, target, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
    return true;
  });
}

/** Lines of a failed setup that are shown. */
const SHOWN_LINES = 10;

/** Runs the command that makes a new worktree ready. */
export async function runSetup(workspace: string, setup: Setup): Promise<void> {
  mkdirSync(workspace, { recursive: true });
  const { command, signal, tell } = setup;
  if (command === undefined) return;
  tell(`setting up the worktree: ${command}`);
  const { ok, how, lines } = await runCommand(workspace, command, setup);
  if (ok) return;
  if (!signal?.aborted) for (const line of lines) tell(line);
  throw new RalphError(`setup failed in the new worktree (${how}): ${command}`, {
    code: "setup_failed",
    hint: "ralph removed the worktree",
  });
}

const TEARDOWN_MS = 5 * 60_000;

/** What a worktree has started, such as a database, is ended before the worktree goes. A failure is only told. */
export async function runTeardown(
  workspace: string,
  { command, slot, tell }: Pick<Setup, "command" | "slot" | "tell">,
): Promise<void> {
  if (command === undefined || !existsSync(workspace)) return;
  const { ok, how, lines } = await runCommand(workspace, command, { timeoutMs: TEARDOWN_MS, slot });
  if (!ok) tell(`warning: teardown failed (${[how, ...lines.slice(-1)].join(": ")}): ${command}`);
}

/** A shell command of the settings, with what it said last. */
async function runCommand(
  workspace: string,
  command: string,
  {
    timeoutMs,
    signal,
    slot,
    env: given,
  }: Pick<Setup, "timeoutMs" | "slot" | "env"> & Partial<Pick<Setup, "signal">>,
) {
  // It runs what is in the worktree, which agents may have written.
  const own = given ?? withoutCredentials(quietEnvironment(), join(workspace, ".git", "no-login"));
  const env = { ...own, ...(slot !== undefined && { [SLOT_VARIABLE]: String(slot) }) };
  const ended = await capture(
    { file: "/bin/sh", args: ["-c", command], cwd: workspace, env },
    { timeoutMs, ...(signal && { stop: signal }) },
  );
  const redact = createRedactor(process.env);
  const said = (ended.stderr.trim() || ended.stdout.trim()).split("\n").filter(Boolean);
  const how = ended.timedOut ? "timed out" : (ended.signal ?? `exit ${ended.exitCode}`);
  return { ok: ended.ok, how, lines: said.slice(-SHOWN_LINES).map(redact) };
}

/** Tells lanes that run at the same time apart, for ports and databases. */
const SLOT_VARIABLE = "RALPH_SLOT";

function failed(what: string, output: string): RalphError {
  const said = oneLine(output, "; ");
  return new RalphError(said === "" ? what : `${what}: ${said}`, { code: "worktree_failed" });
}

function interrupted(): RalphError {
  return new RalphError("interrupted while ralph prepared the worktree; ralph removed it", {
    code: "interrupted",
    exitCode: 130,
  });
}
