import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoopEvent } from "../../src/events.js";
import { journalFile, journalOf, processesOf } from "../faults/ending.js";
import type { Project } from "../kit.js";
import { landedText, lanesProject, PARALLEL, resultBranch } from "./kit.js";

const IDS = ["US-001", "US-002", "US-003"];
const PRELOAD = `--require=${join(import.meta.dirname, "../faults/kill-at.cjs")}`;

/** Three stories in three lanes. */
export const threeLanes = (): Project =>
  lanesProject(IDS, { work: Object.fromEntries(IDS.map((id) => [id, `echo ${id} > ${id}.txt`])) });

/** The same, and each changes a file that the others change, too. */
export const threeInConflict = (): Project =>
  lanesProject(IDS, {
    work: Object.fromEntries(IDS.map((id) => [id, `echo ${id} > ${id}.txt; echo ${id} >> shared.txt`])),
    resolve: Object.fromEntries(IDS.map((id) => [id, "sed -i '/^[<=>]/d' shared.txt"])),
  });

/** All that has to be the same, wherever ralph was killed. */
const WHOLE = {
  ...{ code: 0, landed: IDS.map((id) => `${id}\n`), merges: IDS.map((id) => `${id}: Story ${id}`) },
  doubled: [] as string[],
  ...{ passed: 3, worktrees: 1, branches: 2, processes: [], costs: "the same", queue: false },
};

/**
 * Kills ralph at an event of its journal, as `LINE SIDE` or `TYPE SIDE`, or so many milliseconds after its start, and
 * resumes. Returns what is wrong then.
 */
export async function killedAt(at: string | number, make = threeLanes): Promise<unknown> {
  const p = make();
  const env = typeof at === "string" ? { NODE_OPTIONS: PRELOAD, KILL_AT: at } : {};
  const { child, result } = p.start([...PARALLEL, "3"], { env });
  if (typeof at === "number") await Promise.race([result, sleep(at)]).then(() => child.kill("SIGKILL"));
  const first = await result;
  if (first.code !== null)
    return first.code === 0 ? undefined : `it was not killed: ${first.all.slice(-500)}`;
  if (journalFile(p) === undefined) return undefined;
  const { code, finished, all } = await p.ralph("resume", "--json");
  const events = journalOf(p);
  const branch = resultBranch(p);
  const log = (kind: string) => p.sh(`git log --format=%s ${kind} main..${branch}`).trim().split("\n").sort();
  const merges = log("--first-parent");
  // A story in conflict is reviewed again.
  const commits = log("--no-merges").filter((subject) => make === threeLanes || /implemented/.test(subject));
  const { userStories } = JSON.parse(landedText(p, "ralph/tasks.json"));
  const found = {
    ...{ code, landed: IDS.map((id) => landedText(p, `${id}.txt`)), merges },
    doubled: commits.filter((subject, at) => subject === commits[at - 1]),
    passed: userStories.filter(({ passes }: { passes: boolean }) => passes).length,
    worktrees: p.sh("git worktree list").trim().split("\n").length,
    branches: p.sh("git for-each-ref refs/heads").trim().split("\n").length,
    processes: processesOf(p.root),
    costs: Math.abs((finished.costUsd ?? 0) - costOf(events)) < 0.0001 ? "the same" : finished.costUsd,
    queue: existsSync(`${p.dir}-worktrees`),
    shared: landedText(p, "shared.txt").trim().split("\n").sort(),
  };
  const shared = ["one", "two", "three", ...(make === threeLanes ? [] : IDS)].sort();
  const isWhole = JSON.stringify(found) === JSON.stringify({ ...WHOLE, shared });
  return isWhole ? undefined : { ...found, said: code === 0 ? "" : all.slice(-600) };
}

/** What every call has told that it cost: also one that was cut off later. */
function costOf(events: LoopEvent[]): number {
  const results = events.flatMap((event) =>
    event.type === "agent.event" && event.event.type === "result" ? [event.event.costUsd ?? 0] : [],
  );
  return results.reduce((sum, cost) => sum + cost, 0);
}
