import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseDuration } from "../duration.js";
import { ralphHome, runNamed } from "../records/home.js";
import { removeBranch, removeLanded } from "../run/landing/clean.js";
import { AT_WORK, endedRuns, type OwnWorktree, whyKept, worktreesOf } from "../run/worktrees.js";
import { invalid } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import { plural } from "../views/figures.js";
import { tableLines } from "../views/layout.js";
import { removeOwnWorktree } from "../workspace/landing/worktree.js";
import { failure, note, printAs, say, warn } from "./output.js";

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

async function remove({
  path,
  branch,
  commit,
  landed,
  uncommitted,
  run,
}: OwnWorktree): Promise<string | undefined> {
  const repository = process.cwd();
  if (branch === null)
    return (await removeOwnWorktree(repository, path))
      ? undefined
      : `kept the worktree ${path}: git cannot remove it`;
  const spec = run?.shown() as { workspace?: string; copied?: string[] } | undefined;
  const { workspace = path, copied = [] } = spec ?? {};
  const { settings } = await loadSettings(repository);
  if (landed !== null && uncommitted === 0) {
    const tell = (text: string): number => note(text);
    const { teardown } = settings;
    return removeLanded({
      repository,
      branch,
      tip: commit,
      worktree: path,
      workspace,
      copied,
      teardown,
      tell,
    });
  }
  if (!(await removeOwnWorktree(repository, path))) return `kept the worktree ${path}: git cannot remove it`;
  return removeBranch(repository, branch, commit);
}

function removeRecords(home: string, id: string, name: string, path: string): void {
  rmSync(path, { recursive: true, force: true });
  if (runNamed(home, name) === id) rmSync(join(home, "names", name), { force: true });
}
