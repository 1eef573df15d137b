import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { RalphError } from "../errors.js";
import type { CheckFinished } from "../events.js";
import { capture } from "../process/run.js";
import { exitCodeOf } from "../stop-reasons.js";
import { type Check, runCheck } from "../verify/check.js";
import {
  commonFolder,
  type Git,
  git,
  gitFolder,
  namesIn,
  repositoryRoot,
  SOMEBODY,
  someOf,
} from "../workspace/git.js";
import { submodulesIn } from "../workspace/stage.js";
import type { Receipt } from "./read.js";
import { type ReceiptCheck, sha256 } from "./statement.js";

export interface RecheckOptions {
  /** A checkout of the repository; undefined: the work is in `store` alone. */
  repository: string | undefined;
  /** Objects of git that no commit holds, where the records of the run are here. */
  store: string | undefined;
  /** Commands of hidden checks: a receipt does not have them. */
  hidden: string[];
  stop: AbortSignal;
  tell(text: string): void;
}

/** A check as it was, and as it is; `now` is undefined where it could not be run. */
export interface RecheckResult {
  check: ReceiptCheck;
  now?: CheckFinished;
  result: "same" | "differs" | "unchecked";
  why?: string;
}

const SETUP_MS = 30 * 60_000;
const CHECK_MS = 10 * 60_000;

/**
 * Runs the checks of a receipt once more, in a checkout of its own of what was verified, with nothing of the user's
 * environment but PATH. Neither a checkout of the user nor the repository is written.
 */
export async function* recheck(receipt: Receipt, options: RecheckOptions): AsyncGenerator<RecheckResult> {
  const place = mkdtempSync(join(realpathSync(tmpdir()), "ralph-verify-"));
  try {
    const work = join(place, "work");
    for (const folder of [work, join(place, "home"), join(place, "tmp")]) mkdirSync(folder);
    const root = options.repository && repositoryRoot(options.repository);
    await checkOut(receipt, work, root, options);
    const absent = await fillSubmodules(work, recordsOf(root), options.stop);
    const workspace = join(work, receipt.folder);
    if (!existsSync(workspace)) throw impossible(`its folder is not in the commit: ${receipt.folder}`);
    const env = {
      PATH: process.env["PATH"],
      HOME: join(place, "home"),
      TMPDIR: join(place, "tmp"),
      LANG: "C.UTF-8",
    };
    await setUp(receipt, workspace, env, options);
    for (const check of receipt.checks) {
      const one = await again(check, { workspace, env, redact: (text) => text }, options);
      if (options.stop.aborted) break;
      const why = one.result === "differs" ? await obstacle(work, absent) : undefined;
      yield why === undefined ? one : { ...one, result: "unchecked", why };
    }
  } catch (error) {
    if (!options.stop.aborted) throw error;
  } finally {
    await remove(place);
  }
  if (options.stop.aborted)
    throw new RalphError("interrupted before the receipt was checked", {
      code: "interrupted",
      exitCode: exitCodeOf("interrupted"),
    });
}

/** Checks may leave folders that nobody may write in, such as the caches of some package managers. */
async function remove(place: string): Promise<void> {
  const rm = (): void => rmSync(place, { recursive: true, force: true });
  try {
    rm();
  } catch {
    await capture({ file: "chmod", args: ["-R", "u+rwX", place], cwd: "/", env: process.env });
    rm();
  }
}

function impossible(why: string, hint?: string): RalphError {
  return new RalphError(`the receipt cannot be checked: ${why}`, {
    code: "receipt_unchecked",
    ...(hint && { hint }),
  });
}

/** A repository of its own, which borrows the objects: what a check does to it is gone with it. */
async function checkOut(
  receipt: Receipt,
  work: string,
  root: string | undefined,
  { stop, repository, store = "" }: RecheckOptions,
): Promise<void> {
  const { tree, base } = receipt;
  const run: Git = (args, more) => git(work, args, { ...more, stop });
  const sha = tree.length === 64 ? ["--object-format=sha256"] : [];
  const made = await run(["init", "--quiet", "--template=", ...sha]);
  if (!made.ok) throw impossible(made.spawnError ? "git is not here" : made.stderr.trim());
  const own = join(work, ".git");
  lend(own, [...recordsOf(root), store]);
  await copyRefs(own, root);
  await requireSubject(receipt, run, repository);
  const parent = base !== null && (await run(["cat-file", "-e", `${base}^{commit}`])).ok ? ["-p", base] : [];
  const commitTree = [...SOMEBODY, "commit-tree", tree, ...parent, "-m", "As it was verified"];
  const head = receipt.commit ?? (await run(commitTree)).stdout.trim();
  const out = await run(["checkout", "--quiet", "--force", "--detach", head], { timeoutMs: SETUP_MS });
  if (!out.ok) throw impossible(out.stderr.trim().split("\n")[0] ?? "git cannot check it out");
}

/** Throws unless the commit and the tree are here, and are those that were verified. */
async function requireSubject(
  { commit, tree, isEdited }: Receipt,
  run: Git,
  repository = "any repository here",
): Promise<void> {
  const subject = commit === undefined ? tree : `${commit}^{commit}`;
  const found = await run(["rev-parse", "--verify", "--quiet", `${subject}^{tree}`]);
  if (!found.ok)
    throw commit === undefined
      ? impossible(
          "its work was not committed when it was verified, and the records of the run are not here",
          "ralph verify RUN works where it ran; a receipt of committed work goes anywhere",
        )
      : impossible(
          `commit ${commit.slice(0, 12)} is not in ${repository}`,
          "git fetch it, or name a clone that has it: --repo DIR",
        );
  const why = isEdited ? "it was changed after it was written" : "its tree is not that of its commit";
  if (isEdited || found.stdout.trim() !== tree)
    throw new RalphError(`the receipt is wrong: ${why}`, { code: "receipt_wrong", exitCode: 1 });
}

/** The records that all checkouts of a repository share. */
function recordsOf(root: string | undefined): string[] {
  return root === undefined ? [] : [commonFolder(resolve(gitFolder(root)))];
}

/** Lets a repository read the objects of others. */
function lend(own: string, records: string[]): void {
  mkdirSync(join(own, "objects/info"), { recursive: true });
  const objects = records.map((folder) => join(folder, "objects"));
  const lines = objects.filter((path) => existsSync(path)).map((path) => `${path}\n`);
  writeFileSync(join(own, "objects/info/alternates"), lines.join(""));
}

/** Branches and tags, which checks may ask git for. */
async function copyRefs(own: string, root: string | undefined): Promise<void> {
  if (root === undefined) return;
  const { ok, stdout } = await git(root, ["for-each-ref", "--format=%(objectname) %(refname)"]);
  if (ok) writeFileSync(join(own, "packed-refs"), stdout);
  const [shallow = ""] = recordsOf(root).map((folder) => join(folder, "shallow"));
  if (existsSync(shallow)) copyFileSync(shallow, join(own, "shallow"));
}

/**
 * Checks out the submodules of a checkout. `records`: folders of git's records of the same repository elsewhere, which
 * hold those of its submodules. Returns the submodules that are in none of them.
 */
async function fillSubmodules(work: string, records: string[], stop: AbortSignal): Promise<string[]> {
  const run: Git = (args, more) => git(work, args, { ...more, stop });
  const entries = namesIn((await run(["ls-files", "--stage", "-z"])).stdout);
  const links = entries.flatMap((entry) => /^160000 (\w+) \d\t(.+)$/s.exec(entry)?.slice(1) ?? []);
  const names = await submodulesIn(run, work);
  const absent: string[] = [];
  for (let at = 0; at < links.length; at += 2) {
    const [commit = "", path = ""] = links.slice(at, at + 2);
    const name = names.get(path) ?? path;
    const known = records
      .map((folder) => join(folder, "modules", name))
      .filter((folder) => existsSync(folder));
    const folder = join(work, path);
    mkdirSync(folder, { recursive: true });
    const inside: Git = (args) => git(folder, args, { stop });
    await inside(["init", "--quiet", "--template="]);
    lend(join(folder, ".git"), known);
    const out = await inside(["checkout", "--quiet", "--force", "--detach", commit]);
    const deeper = out.ok ? await fillSubmodules(folder, known, stop) : [];
    absent.push(...(out.ok ? deeper.map((one) => join(path, one)) : [path]));
  }
  return absent;
}

/** What a checkout of its own has not, so that a result in it does not show that the receipt is wrong. */
async function obstacle(work: string, absent: string[]): Promise<string | undefined> {
  if (absent.length > 0)
    return `the commit of a submodule is not here: ${someOf(absent)} (git submodule update --init)`;
  const { stdout: files } = await git(work, ["ls-files", "-z"]);
  const { stdout } = await git(work, ["check-attr", "-z", "--stdin", "filter"], { stdin: files });
  const values = namesIn(stdout).filter((_, at) => at % 3 === 2);
  const filters = [...new Set(values)].filter((value) => !["unspecified", "unset", "set"].includes(value));
  return filters.length === 0
    ? undefined
    : `files go through a filter of git that does not run here: ${someOf(filters)}`;
}

async function setUp(
  { setup }: Receipt,
  cwd: string,
  env: NodeJS.ProcessEnv,
  { stop, tell }: RecheckOptions,
): Promise<void> {
  if (setup === null) return;
  tell(`setting up: ${setup}`);
  const shell = { file: "/bin/sh", args: ["-c", setup], cwd, env };
  const ended = await capture(shell, { timeoutMs: SETUP_MS, stop, leavesNothing: true });
  if (ended.ok) return;
  const said = `${ended.stdout}${ended.stderr}`.trim().split("\n").at(-1) ?? "";
  throw impossible(`setup failed (${ended.signal ?? `exit ${ended.exitCode}`}): ${said || setup}`);
}

const SLOWER = 4;

async function again(
  check: ReceiptCheck,
  setup: Parameters<typeof runCheck>[1],
  { hidden, stop }: RecheckOptions,
): Promise<RecheckResult> {
  const script = hidden.find((command) => sha256(command) === check.sha256);
  const command = check.command ?? script;
  if (command === undefined)
    return {
      check,
      result: "unchecked",
      why: "it is hidden, and no receipt has its command (--hidden-check)",
    };
  if (command.includes("[redacted]"))
    return { check, result: "unchecked", why: "its command holds a secret, which was left out" };
  const timeoutMs = Math.max(CHECK_MS, check.durationMs * SLOWER);
  const asked: Check = { command: check.name, script: command, timeoutMs };
  let { event: now } = await runCheck(asked, setup, { iteration: 1, kill: stop });
  // One that is known to be flaky passes when one of its tries does.
  for (let tries = 1; check.flaky.length > 0 && !now.passed && tries < 3; tries += 1)
    ({ event: now } = await runCheck(asked, setup, { iteration: 1, kill: stop }));
  if (now.exitCode === 127)
    return { check, now, result: "unchecked", why: "a program that it needs is not here (exit 127)" };
  // A gate may have to end in another way than well.
  const wanted = check.exitCode ?? 0;
  const isSame = now.exitCode === wanted && !now.timedOut && (now.passed || wanted !== 0);
  return { check, now, result: isSame ? "same" : "differs" };
}
