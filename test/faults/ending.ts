import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { LoopEvent, RunFinished } from "../../src/events.js";
import { livingLoops } from "../../src/records/lock.js";
import { parseLine } from "../../src/records/read.js";
import type { Project } from "../kit.js";

/** All that is left when a run is over. Two runs of a script have the same one. */
export interface Ending {
  outcome: unknown;
  /** Numbers of the iterations that were finished, in order. */
  iterations: number[];
  calls: number;
  costUsd: number;
  tokens: number;
  /** Branches and the files that they hold. */
  branches: string[];
  /** Files and subject of every commit, the first one first. */
  commits: string[];
  status: string;
  /** Files of the project, of its worktrees and of the records. */
  files: string[];
  corrupt: string[];
  /** Of loops that live. */
  locks: number;
  processes: string[];
}

export function endingOf(p: Project): Ending {
  const { worktree, ...finished } = finishedIn(journalOf(p));
  const { success, reason, exitCode, iterations, filesChanged, message } = finished;
  // A worker that was never spawned leaves a record without an event; the one that came after it counts.
  const files = filesIn(p.root, p.runFolder()).filter(
    ({ name }) =>
      !/^(bin|ralph-index-\w+|home\/work\.sh|home\/calls|home\/\.ralph\/locks|project\/\.git)\b/.test(name),
  );
  return {
    outcome: {
      success,
      reason,
      exitCode,
      iterations,
      filesChanged,
      message,
      worktree: worktree?.replace(p.root, ""),
    },
    iterations: journalOf(p).flatMap((event) =>
      event.type === "iteration.finished" ? [event.iteration] : [],
    ),
    calls: callsOf(p),
    costUsd: cents(finished.costUsd ?? 0),
    tokens: finished.inputTokens + finished.outputTokens,
    branches: linesOf(p.sh("git for-each-ref --format='%(refname) %(tree)' refs/heads")),
    commits: commitsOf(p),
    status: p.sh("git status --porcelain; git stash list; git worktree list --porcelain | grep -c ^worktree"),
    files: files.filter(({ name }) => !isRetry(name)).map((file) => `${file.name} ${digest(file)}`),
    corrupt: files.filter(isCorrupt).map(({ name }) => name),
    locks: livingLoops(join(p.home, ".ralph")).length,
    processes: processesOf(p.root),
  };
}

/** Sums of dollars that differ by a rounding error are the same. */
export const cents = (usd: number): number => Math.round(usd * 1000) / 1000;

export function journalOf(p: Project): LoopEvent[] {
  const file = journalFile(p);
  if (file === undefined) return [];
  return linesOf(readFileSync(file, "utf8")).flatMap((line) => parseLine(line) ?? []);
}

export function journalFile(p: Project): string | undefined {
  const runs = join(p.home, ".ralph/runs");
  if (!existsSync(runs) || readdirSync(runs).length === 0) return undefined;
  const file = join(p.runFolder(), "journal.ndjson");
  return existsSync(file) ? file : undefined;
}

function finishedIn(events: LoopEvent[]): LoopEvent & RunFinished {
  const found = events.findLast((event) => event.type === "run.finished");
  if (found?.type === "run.finished") return found;
  throw new Error("the run was never closed");
}

function callsOf({ home }: Project): number {
  const calls = join(home, "calls");
  return existsSync(calls) ? linesOf(readFileSync(calls, "utf8")).length : 0;
}

function commitsOf(p: Project): string[] {
  return linesOf(withoutRun(p.sh("git log --all --reverse --format='%T %s'")));
}

interface FoundFile {
  name: string;
  content: string;
}

function filesIn(root: string, run: string): FoundFile[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("/runs/") || path.startsWith(`${run}/`))
    .filter((path) => !/\/\.git(\/|$)/.test(path) && statSync(path).size < 1e6)
    .map((path) => ({ name: withoutRun(relative(root, path)), content: readFileSync(path, "utf8") }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const withoutRun = (text: string): string => text.replaceAll(/\d{8}-\d{6}-[0-9a-f]{6}/g, "RUN");

/** An iteration that was cut off keeps the records of each try. */
const isRetry = (name: string): boolean => /\/agent\.\d+\.(ndjson|log)$/.test(name);

/** What holds times, paths, stamps of files or commits differs from run to run, and what an agent said may have been cut off. */
const VARYING =
  /(ndjson|spec\.json|receipt\.json|trees\/(begin|index)|state\.json|git-start\.json|stories\.json|protected\/files\.json|worker\.json|output\.log|iterations\.log|agent\.log|prompt\.md)$/;

function digest({ name, content }: FoundFile): string {
  if (VARYING.test(name)) return "";
  const steady = withoutRun(content)
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?/g, "TIME")
    .replaceAll(/\d+(\.\d+)? ?m?s\b/g, "SPAN");
  return createHash("sha256").update(steady).digest("hex").slice(0, 8);
}

function isCorrupt({ name, content }: FoundFile): boolean {
  if (/\.tmp$|\.lock$|\.repaired$|corrupt-/.test(name)) return true;
  if (name.endsWith("journal.ndjson"))
    return !content.endsWith("\n") || linesOf(content).some((line) => parseLine(line) === undefined);
  return name.endsWith(".json") && !isJson(content);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** The processes that have the project in their environment. */
export function processesOf(root: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const isOurs = readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${root}/`);
      return isOurs ? [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")] : [];
    } catch {
      return [];
    }
  });
}
