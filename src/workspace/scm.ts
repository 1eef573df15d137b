import { rmSync } from "node:fs";
import { basename } from "node:path";
import { elapsed } from "../elapsed.js";
import { RalphError } from "../errors.js";
import type { CallSpending, LoopEventBody, ScmFinished } from "../events.js";
import { type Capture, capture } from "../process/run.js";
import { which } from "../process/which.js";
import type { Redact } from "../records/redact.js";
import { splitWords } from "../words.js";
import {
  type Config,
  git,
  namesIn,
  RALPH,
  repositoryRoot,
  scratchFolder,
  startOf,
  waryEnvironment,
} from "./git.js";
import { type FindNewPrograms, type Trust, trustNow } from "./git-programs.js";
import { RUNTIME_FILES } from "./runtime.js";
import { innerRefusal, newLinks, stage } from "./stage.js";
import { unfinished } from "./start.js";

export interface Scm {
  command: string;
  tasks: string[];
  /** What git commits: everything that is not ignored, or tracked files alone. */
  stage: "all" | "tracked";
}

export interface ScmContext {
  workspace: string;
  redact: Redact;
  kill: AbortSignal;
  /** Asks the agent for a commit message. */
  askForMessage(): Promise<CommitMessage>;
  /** What git would run that it did not run when the run began. */
  newPrograms?: FindNewPrograms | undefined;
}

/** What an agent answers that is asked for a commit message. */
export interface CommitMessage {
  text: string;
  spent?: CallSpending | undefined;
  /** Whether the files are not those any more that were verified. */
  changed?: boolean;
}

const CHANGED =
  "files changed while the agent worded the commit message, so nothing was committed: only verified work is";

export const COMMIT_PROMPT =
  "Provide a short imperative commit message for the changes. Output only the message, no explanation.";

function usesGit(scm: Scm): boolean {
  return basename(splitWords(scm.command)[0] ?? "") === "git";
}

/** Fails before a run what would fail in the middle of the night. */
export function checkScm(workspace: string, scm: Scm | undefined, env: NodeJS.ProcessEnv): void {
  if (scm === undefined) return;
  if (which(splitWords(scm.command)[0] ?? "", workspace, env["PATH"]).status !== "found") {
    throw new RalphError(`scm command not found: ${scm.command}`, {
      code: "scm_not_found",
      hint: "install it, or change scm.command in the settings",
    });
  }
  if (usesGit(scm) && repositoryRoot(workspace) === undefined) {
    throw new RalphError(`not a git repository: ${workspace}`, {
      code: "not_a_repository",
      hint: "scm in the settings needs one: run git init, or set scm to null",
    });
  }
}

export interface ScmFailure {
  task: string;
  /** The command itself said no, as a hook does; otherwise it could not even be asked. */
  refused: boolean;
  message: string;
}

/** Runs the tasks in order; the first that fails ends them. Returns what went wrong, if anything did. */
export async function* runScm(
  scm: Scm,
  context: ScmContext,
  iteration: number,
): AsyncGenerator<LoopEventBody, ScmFailure | undefined> {
  for (const task of scm.tasks) {
    const begun = elapsed();
    const { passed, exitCode, message } = yield* runTask(scm, task, context, iteration);
    const durationMs = Math.round(elapsed() - begun);
    yield { type: "scm.finished", iteration, task, passed, exitCode, durationMs, message };
    if (!passed)
      return { task, refused: exitCode !== null, message: `${scm.command} ${task} failed: ${message}` };
  }
  return undefined;
}

type TaskResult = Pick<ScmFinished, "passed" | "exitCode" | "message">;

type TaskEvents = AsyncGenerator<LoopEventBody, TaskResult>;

async function* runTask(scm: Scm, task: string, context: ScmContext, iteration: number): TaskEvents {
  const trust = await trustNow(usesGit(scm) ? context.newPrograms : undefined);
  if (trust.refusal !== undefined) return refusal(trust.refusal);
  if (task === "commit") return yield* commit(scm, context, trust, iteration);
  const to = usesGit(scm) && task.trim() === "push" ? await whereToPush(context.workspace) : [];
  if (typeof to === "string") return hopeless(to);
  return resultOf(await call(scm, [...splitWords(task), ...to], context, trust), context);
}

async function* commit(scm: Scm, context: ScmContext, trust: Trust, iteration: number): TaskEvents {
  const stagesAll = usesGit(scm) && scm.stage === "all";
  const settled = usesGit(scm) ? await prepareGit(stagesAll, context) : undefined;
  if (settled !== undefined) return settled;
  const { text, spent, changed } = await context.askForMessage();
  if (spent !== undefined) yield { type: "scm.asked", iteration, spent };
  if (changed) return refusal(CHANGED);
  const message = messageIn(text) ?? `Work of ralph, iteration ${iteration}`;
  const result = await call(scm, ["commit", stagesAll ? "-m" : "-am", message], context, trust);
  return result.ok
    ? { passed: true, exitCode: 0, message: `${message}${trust.note}` }
    : resultOf(result, context);
}

/** undefined when there is something to commit. */
async function prepareGit(stagesAll: boolean, context: ScmContext): Promise<TaskResult | undefined> {
  const { workspace, kill: stop } = context;
  const start = startOf(workspace);
  const halfDone = await unfinished(workspace);
  if (halfDone !== undefined) {
    const isOwn = start !== undefined && (await unfinished(workspace, start)) === undefined;
    // What the user has begun is not the agent's to end.
    return isOwn ? hopeless(halfDone) : refusal(halfDone);
  }
  const added = stagesAll ? await stage(workspace, ["."], { stop }) : undefined;
  if (added?.ok === false) return resultOf(added, context);
  const found = added?.inner ?? (await newLinks(workspace, (args) => git(workspace, args)));
  const inner = found.filter((path) => !start?.inner.includes(path));
  if (inner.length > 0) return refusal(innerRefusal(inner));
  if (stagesAll) await git(workspace, ["reset", "--quiet", "--", ...RUNTIME_FILES], { stop });
  const compared = ["--quiet", "--ignore-submodules=dirty", stagesAll ? "--cached" : "HEAD"];
  const { exitCode } = await git(workspace, ["diff", ...compared], { stop });
  if (exitCode === 0) return { passed: true, exitCode: 0, message: "nothing to commit" };
  const unsigned = await whyNotSigned(workspace, stop);
  // No agent has the user's key.
  return unsigned === undefined ? undefined : hopeless(unsigned);
}

/** An agent can mend what was refused. */
function refusal(message: string): TaskResult {
  return { passed: false, exitCode: 1, message };
}

/** No agent can mend it. */
function hopeless(message: string): TaskResult {
  return { passed: false, exitCode: null, message };
}

/** A push that waits for a network that is gone would block the loop for ever. */
const TASK_TIMEOUT_MS = 10 * 60_000;

function call(scm: Scm, args: string[], { workspace, kill }: ScmContext, { hooks }: Trust): Promise<Capture> {
  const [file = "", ...first] = splitWords(scm.command);
  return capture(
    { file, args: [...first, ...args], cwd: workspace, env: waryEnvironment(workspace, hooks) },
    { stop: kill, timeoutMs: TASK_TIMEOUT_MS },
  );
}

/** The `<response>` if there is one, else the first line that says something. */
export function messageIn(answer: string): string | undefined {
  const [, response] = /<response>([\s\S]*?)<\/response>/i.exec(answer) ?? [];
  const message = response ?? answer.split("\n").find((line) => !/^\s*(```\w*)?\s*$/.test(line));
  return message?.trim() || undefined;
}

const MAX_OUTPUT_CHARS = 2000;

function resultOf(result: Capture, { redact }: ScmContext): TaskResult {
  const { ok, exitCode, stdout, stderr, spawnError, timedOut } = result;
  const said = [timedOut ? "it took too long" : "", stdout, stderr, spawnError?.message ?? ""]
    .map((text) => text.trim())
    .filter(Boolean);
  return { passed: ok, exitCode, message: redact(said.join("\n")).slice(-MAX_OUTPUT_CHARS) };
}

/** Settings with which git knows where to push a branch that has no upstream. */
const KNOWN =
  /^(?:push\.default\ncurrent|push\.autosetupremote(?:\n(?:true|yes|on|1))?|remote\.pushdefault\n.*|branch\..*\.pushremote\n.*|remote\..*\.push\n.*)$/s;

/** More words for `git push`; a text is why it would push nothing. */
async function whereToPush(workspace: string): Promise<string[] | string> {
  const head = await git(workspace, ["symbolic-ref", "--quiet", "HEAD"]);
  const ref = head.stdout.trim();
  const branch = ref.replace("refs/heads/", "");
  const { stdout } = await git(workspace, ["for-each-ref", "--format=%(upstream)", ref]);
  if (!head.ok || stdout.trim() !== "") return [];
  if ((await git(workspace, ["remote"])).stdout === "")
    return `no remote, so ralph pushed nothing (run: git remote add origin URL, then git push --set-upstream origin ${branch})`;
  // ralph made it.
  if (branch.startsWith("ralph/")) return ["--set-upstream", "origin", branch];
  const settings = await git(workspace, ["config", "--list", "-z"]);
  if (namesIn(settings.stdout).some((setting) => KNOWN.test(setting))) return [];
  return `the branch ${branch} has no upstream, so ralph pushed nothing (run: git push --set-upstream origin ${branch})`;
}

/** A key that is unlocked signs within a second; one that waits for its passphrase, or for a touch, waits for ever. */
const SIGN_MS = 5000;

/** Why git cannot sign a commit that the user wants signed; undefined: it can, or need not. */
export async function whyNotSigned(workspace: string, stop: AbortSignal): Promise<string | undefined> {
  const asked = await git(workspace, ["config", "--type=bool", "--get", "commit.gpgSign"]);
  if (asked.stdout.trim() !== "true") return undefined;
  const { stdout: tree } = await git(workspace, ["hash-object", "-t", "tree", "--stdin"], { stdin: "" });
  const objects = scratchFolder(workspace);
  try {
    const args = ["commit-tree", "-S", "-m", "Whether it can be signed", tree.trim()];
    const env = { GIT_OBJECT_DIRECTORY: objects };
    const { ok, timedOut, stderr } = await git(workspace, args, { env, stop, timeoutMs: SIGN_MS });
    if (ok) return undefined;
    const said = timedOut ? `it took more than ${SIGN_MS / 1000} seconds` : stderr.trim();
    return `git cannot sign the commit, as commit.gpgSign asks for: ${said} (unlock the key before the run, or set commit.gpgSign to false in this repository)`;
  } finally {
    rmSync(objects, { recursive: true, force: true });
  }
}

/** Settings without which agents that nobody watches could not commit, and what to say about each. */
export async function neededToCommit(
  workspace: string,
  stop: AbortSignal,
): Promise<{ settings: Config; warnings: string[] }> {
  const [who, unsigned] = await Promise.all([
    git(workspace, ["var", "GIT_COMMITTER_IDENT"]),
    whyNotSigned(workspace, stop),
  ]);
  const nameless =
    "git knows no name for commits, so agents commit as ralph: git config user.name NAME, and user.email";
  return {
    settings: [
      ...(who.ok ? [] : RALPH),
      ...(unsigned === undefined ? [] : [["commit.gpgSign", "false"] satisfies Config[number]]),
    ],
    warnings: [
      ...(who.ok ? [] : [nameless]),
      ...(unsigned === undefined ? [] : [`agents do not sign their commits: ${unsigned}`]),
    ],
  };
}
