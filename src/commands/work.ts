import { existsSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { parseDuration } from "../duration.js";
import { interactive } from "../process/run.js";
import { ralphHome, runNamed } from "../records/home.js";
import { changesOf } from "../run/changes.js";
import { removeBranch, removeLanded } from "../run/landing/clean.js";
import type { LandOutcome } from "../run/landing/land.js";
import type { LandingAsked } from "../run/landing/plan.js";
import { handleSignals } from "../run/signals.js";
import { readSpec } from "../run/spec.js";
import { AT_WORK, endedRuns, type OwnWorktree, whyKept, worktreesOf } from "../run/worktrees.js";
import { invalid, wholeNumber } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import { joined, plural } from "../views/figures.js";
import { harmless, harmlessJson, harmlessLine } from "../views/harmless.js";
import { tableLines } from "../views/layout.js";
import { quoteWord } from "../words.js";
import { branchAt, quietEnvironment, repositoryRoot } from "../workspace/git.js";
import { removeOwnWorktree } from "../workspace/landing/checkout.js";
import { runTeardown } from "../workspace/worktree/create.js";
import { loopMeant, nameOf, runHere } from "./find.js";
import { failure, note, type PrintFlags, printAll, printAs, say, warn } from "./output.js";

/** The project's settings start no program to show a change. */
const SAFELY = ["--no-ext-diff", "--no-textconv", "--find-renames"];

/** `ralph diff [RUN]`: what a run changed, or one of its iterations. */
export async function diff(
  name: string | undefined,
  { stat, iteration, color }: PrintFlags & { stat?: boolean; iteration?: string },
): Promise<number> {
  const wanted = iteration === undefined ? undefined : wholeNumber("--iteration", iteration, 1);
  const found = loopMeant(name, "latest");
  const changes = await changesOf(runHere(found), { iteration: wanted });
  if (typeof changes === "string")
    throw failure("no_diff", changes, "ralph report shows what ralph knows about the run");
  const which = wanted === undefined ? nameOf(found) : `iteration ${wanted} of ${nameOf(found)}`;
  const args = ["diff", ...SAFELY, ...(stat ? ["--stat"] : [])];
  if (changes.unknown.length > 0)
    note(`${plural(changes.unknown.length, "file")} not shown: too many to be recorded`);
  const isEmpty = changes.from === changes.to || (await changes.diff(["diff", "--quiet"])).exitCode === 0;
  if (isEmpty) return note(`${which} changed no file`);
  if (!process.stdout.isTTY || process.env["TERM"] === "dumb") {
    const { stdout } = await changes.diff([...args, "--no-color"]);
    return printAll(stdout);
  }
  // git pages it, with the user's own pager.
  const { args: words, env } = changes.words([...args, ...(color === false ? ["--no-color"] : [])]);
  const command = {
    file: "git",
    args: words,
    cwd: changes.repository,
    env: { ...quietEnvironment(), ...env },
  };
  return (await interactive(command)).exitCode ?? 1;
}

type LandFlags = LandingAsked & { json?: boolean; hiddenCheck?: string[] };

/** `ralph land [RUN]`: brings the work of a finished run into a branch. */
export async function landCommand(name: string | undefined, flags: LandFlags): Promise<number> {
  const run = runHere(loopMeant(name, "latest"));
  const { landRun } = await import("../run/landing/land.js");
  const { origin, workspace, config } = readSpec(run);
  const { settings } = await loadSettings(origin ?? workspace, config);
  const handler = handleSignals(() => note("interrupted: nothing lands"));
  try {
    const ended = await landRun(run, flags, {
      ...{ settings, hiddenChecks: flags.hiddenCheck, signal: handler.signals.stop, tell: note },
      onEvent: (event) => {
        if (flags.json) process.stdout.write(`${harmlessJson(event)}\n`);
      },
    });
    return await tell(ended, flags);
  } finally {
    handler.release();
  }
}

async function tell(ended: LandOutcome, { json = false }: LandFlags): Promise<number> {
  const { into, branch } = ended.plan;
  if (ended.kind === "landed") {
    if (ended.left !== undefined) warn(harmlessLine(ended.left));
    return json ? 0 : printAll(landedText(ended));
  }
  if (ended.kind === "nothing") return json ? 0 : say(`${into} already contains ${branch}`);
  if (ended.kind === "interrupted") throw failure("interrupted", "nothing has landed", undefined, 130);
  if (ended.kind === "red" && !json)
    for (const { output, log } of ended.checks.filter(({ passed }) => !passed))
      process.stderr.write(`${harmless(output).trimEnd()}\n(log: ${log})\n`);
  const { whyRefused } = await import("../run/landing/land.js");
  const why = `not landed in ${into}: ${harmlessLine(whyRefused(ended))}`;
  throw failure(`landing_${ended.kind}`, why, whatToDo(ended), EXITS[ended.kind] ?? 1);
}

function landedText(landed: LandOutcome & { kind: "landed" }): string {
  const { plan, old, new: commit, checks, unverified, receipt, unproven } = landed;
  const { into, title, repository } = plan;
  const passed = `${plural(checks.length, "check")} passed on the merge, twice`;
  const how = joined(
    `${old.slice(0, 9)}..${commit.slice(0, 9)}`,
    unverified ? "nothing verified it" : passed,
  );
  const brought = branchAt(repository) === into ? `updated the checkout ${repository}\n` : "";
  const proof = receipt === undefined ? (unproven ?? "") : `ralph verify ${quoteWord(receipt)} re-checks it`;
  return `Landed in ${into}: ${harmlessLine(title)} (${how})\n${brought}${proof && `${proof}\n`}`;
}

/** Nothing was verified, or somebody else was at work: the same command may do it later. */
const EXITS: Partial<Record<LandOutcome["kind"], number>> = { in_the_way: 2, moved: 2 };

function whatToDo({ plan: { branch, into, run, spec }, ...ended }: LandOutcome): string | undefined {
  const name = run.name();
  const { worktree = "" } = spec;
  const go = existsSync(worktree) ? `cd ${quoteWord(worktree)}` : `git switch ${quoteWord(branch)}`;
  switch (ended.kind) {
    case "conflict":
      return `resolve them: ${go}; git merge ${quoteWord(into)}; commit; ralph land ${name}`;
    case "red":
    case "flaky":
      return `nothing has changed; the work is on ${branch}`;
    case "lost":
      return `git diff ${into}...${branch} shows the changes; fix them on ${branch}, then ralph land ${name} again`;
    case "in_the_way":
      return ended.files.length > 0 ? "commit it, stash it or move it, then land again" : undefined;
    case "moved":
      return "land again when nobody else pushes";
    default:
      return undefined;
  }
}

/** `ralph worktrees`: what ralph has made beside this repository. */
export async function worktrees(flags: { json?: boolean }): Promise<number> {
  const found = await worktreesOf(process.cwd());
  const rows = found.map(({ run, lastAt, ...one }) => ({
    ...one,
    run: run?.id ?? null,
    name: run?.name() ?? null,
    lastAt: lastAt.toISOString(),
  }));
  return printAs(flags, rows, () => {
    if (found.length === 0) return ["ralph has no worktrees here."];
    const cells = rows.map(({ name, branch, state, bytes, landed, uncommitted }) => [
      ...[name ?? "-", branch ?? "-", state, sizeText(bytes)],
      `${landed === null ? "no" : `in ${landed}`}${uncommitted > 0 ? `, ${plural(uncommitted, "change")} not committed` : ""}`,
    ]);
    const total = rows.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
    const lines = tableLines([["RUN", "BRANCH", "STATE", "SIZE", "LANDED"], ...cells], { right: [3] });
    return [...lines, "", `${plural(rows.length, "worktree")}, ${sizeText(total)}`];
  });
}

const UNITS = ["KB", "MB", "GB", "TB"];

function sizeText(bytes: number | null): string {
  if (bytes === null) return "?";
  let [size, unit] = [bytes / 1024, 0];
  for (; size >= 1000 && unit < UNITS.length - 1; unit += 1) size /= 1024;
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
}

interface RemovalFlags {
  worktrees?: boolean;
  runs?: boolean;
  olderThan?: string;
  force?: boolean;
  yes?: boolean;
}

/** Without a word, records of the last month stay. */
const RECORDS_AGE = "30d";

/** `ralph clean --worktrees --runs`: shows what would go, and removes it with --yes. */
export async function cleanDisk(names: string[], flags: RemovalFlags): Promise<number> {
  if (names.length > 0)
    throw failure("clean_choice", `${names[0]} is a worker: --worktrees and --runs take no name`);
  if (!flags.worktrees && !flags.runs)
    throw failure("flag_missing", "say what to remove", "ralph clean --worktrees, --runs, or both");
  const isOld = olderThanFrom(flags.olderThan ?? "0");
  const isOldRecord = olderThanFrom(flags.olderThan ?? RECORDS_AGE);
  const worktreesGone = flags.worktrees ? await cleanWorktrees(flags, isOld) : 0;
  const runsGone = flags.runs ? await cleanRecords(flags, isOldRecord) : 0;
  if (worktreesGone + runsGone === 0) return say("nothing to clean");
  return flags.yes ? 0 : note("removed nothing; add --yes to remove it");
}

/** Returns how many go. */
async function cleanWorktrees(flags: RemovalFlags, isOld: (at: Date) => boolean): Promise<number> {
  const found = (await worktreesOf(process.cwd())).filter(({ lastAt }) => isOld(lastAt));
  let gone = 0;
  for (const one of found) if (await cleanWorktree(one, flags)) gone += 1;
  return gone;
}

async function cleanWorktree(one: OwnWorktree, { force, yes }: RemovalFlags): Promise<boolean> {
  const { path, branch, bytes } = one;
  const why = whyKept(one);
  if (why === AT_WORK || (why !== undefined && !force)) {
    note(`kept: ${path} (${why}${why === AT_WORK ? "" : "; --force removes it"})`);
    return false;
  }
  const left = yes ? await remove(one) : undefined;
  const what = `${path}${branch === null ? "" : ` and ${branch}`} (${sizeText(bytes)})`;
  if (left === undefined) say(`${yes ? "removed" : "would remove"} ${what}`);
  else warn(left);
  return left === undefined;
}

async function cleanRecords(
  { yes, force = false }: RemovalFlags,
  isOld: (at: Date) => boolean,
): Promise<number> {
  const old = (await endedRuns(ralphHome())).filter(({ lastAt }) => isOld(lastAt));
  const records = old.filter(({ isNeeded }) => force || !isNeeded);
  for (const { run } of old.filter((one) => !records.includes(one)))
    note(`kept: the records of ${run.name()} (ralph land needs them; --force removes them)`);
  for (const { run } of records) {
    const name = run.name();
    if (yes) removeRecords(run.home, run.id, name, run.path);
    say(`${yes ? "removed" : "would remove"} the records of ${name} (${run.id})`);
  }
  return records.length;
}

function olderThanFrom(given: string): (at: Date) => boolean {
  const ms = given === "0" ? 0 : parseDuration(given);
  if (ms === undefined) throw invalid("--older-than", given, "a duration, such as 30d or 12h");
  return (at) => Date.now() - at.getTime() >= ms;
}

async function remove(one: OwnWorktree): Promise<string | undefined> {
  const { path, branch, commit: tip, landed, uncommitted, run, slot } = one;
  const repository = process.cwd();
  const { teardown } = (await loadSettings(repository)).settings;
  const inside = relative(repositoryRoot(repository) ?? repository, repository);
  const { copied = [] } = (run?.shown() ?? {}) as { copied?: string[] };
  const tell = (text: string): number => note(text);
  if (branch !== null && landed !== null && uncommitted === 0)
    return removeLanded({ repository, branch, tip, worktree: path, inside, slot, copied, teardown, tell });
  await runTeardown(join(path, inside), { command: teardown, slot, tell });
  if (!(await removeOwnWorktree(repository, path))) return `kept the worktree ${path}: git cannot remove it`;
  return branch === null ? undefined : removeBranch(repository, branch, tip);
}

function removeRecords(home: string, id: string, name: string, path: string): void {
  rmSync(path, { recursive: true, force: true });
  if (runNamed(home, name) === id) rmSync(join(home, "names", name), { force: true });
}
