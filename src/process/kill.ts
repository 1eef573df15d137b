import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsed } from "../elapsed.js";
import { orElse } from "../errors.js";
import {
  environments,
  isStarting,
  type PidRange,
  type ProcessEntry,
  processTable,
  readOrNothing,
  variableIn,
} from "./table.js";

export interface ProcessTree {
  /** The leader of the group, if known; its children may have left the group and outlived it. */
  pid?: number;
  /** `NAME=value` in the environment of every process that started below the leader. */
  marker: string;
}

const POLL_MS = 20;
const SHORT_POLL_MS = 5;
const UNCLEAR_MS = 1000;
const AFTER_KILL_MS = 10_000;

/** SIGTERM to the whole tree, SIGKILL after the grace. Resolves with their number when all are gone. */
export async function killTree(tree: ProcessTree, graceMs: number, pids?: PidRange): Promise<number> {
  const members: Members = new Map();
  const told = new Set<number>();
  const begun = elapsed();
  let unclear: number[] | undefined;
  // List again until nothing is left: a tree can fork while it dies.
  for (;;) {
    const { alive, starting } = membersOf(tree, members, pids);
    const sinceMs = elapsed() - begun;
    if (sinceMs > graceMs + AFTER_KILL_MS) return told.size;
    if (alive.length === 0) {
      // A process that is just starting may belong to the tree; its environment will show it in a moment.
      const before = unclear;
      unclear = starting.filter((pid) => before?.includes(pid) ?? true);
      if (unclear.length === 0 || sinceMs > UNCLEAR_MS) return told.size;
      await sleep(SHORT_POLL_MS);
      continue;
    }
    unclear = undefined;
    const signal = sinceMs >= graceMs ? "SIGKILL" : "SIGTERM";
    for (const { pid } of alive.filter((entry) => signal === "SIGKILL" || !told.has(entry.pid))) {
      told.add(pid);
      sendSignal(pid, signal);
    }
    // A tree that forks faster than ralph lists it must not gain time.
    await sleep(signal === "SIGKILL" ? SHORT_POLL_MS : POLL_MS);
  }
}

/** Does nothing if the process has exited meanwhile. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  orElse(() => process.kill(pid, signal), false);
}

/** The leader's group and session, its descendants, and every process that carries the marker. */
export function findTree(tree: ProcessTree): ProcessEntry[] {
  return membersOf(tree, new Map()).alive;
}

/** Start times of all that ever belonged to the tree, to recognize the children of a dead parent. */
type Members = Map<number, string>;

function membersOf({ pid, marker }: ProcessTree, members: Members, pids?: PidRange) {
  const table = processTable(pids);
  const texts = table.length === 0 ? new Map<number, string>() : environments(pids);
  const [name = "", value] = marker.split("=");
  const belongs = (entry: ProcessEntry): boolean =>
    [entry.pid, entry.group, entry.session].includes(pid ?? -1) ||
    variableIn(texts.get(entry.pid), name) === value ||
    members.get(entry.pid) === entry.startTime;
  const found = new Set(table.filter(belongs).map((entry) => entry.pid));
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const entry of table) if (found.has(entry.ppid)) found.add(entry.pid);
  }
  const alive = table.filter((entry) => found.has(entry.pid) && entry.pid !== process.pid);
  for (const entry of alive) members.set(entry.pid, entry.startTime);
  const starting = table.filter((entry) => texts.get(entry.pid) === "" && isStarting(entry));
  return { alive, starting: starting.map((entry) => entry.pid) };
}

/** Sends SIGINT to the groups that a process has started; false: there is none. */
export function interruptChildren(parent: number): boolean {
  const groups = processTable().filter(({ pid, ppid, group }) => ppid === parent && group === pid);
  for (const { pid } of groups) sendSignal(-pid, "SIGINT");
  return groups.length > 0;
}

let mark: string | undefined;

/**
 * Marks all that this process starts from now on with a limit that Linux does not use, the number of file locks: unlike
 * a variable, it stays on a process that drops its environment. Does nothing where that cannot be done.
 */
export function markChildren(): void {
  if (mark !== undefined || process.platform !== "linux") return;
  mark = String(2 ** 40 + randomInt(2 ** 40));
  spawnSync("/usr/bin/prlimit", ["--pid", String(process.pid), `--locks=${mark}:`], { stdio: "ignore" });
}

/** Marked processes that have lost their parent, so that they no longer descend from this one. */
export function findStrays(): ProcessEntry[] {
  if (mark === undefined) return [];
  const table = processTable();
  const own = new Set([process.pid]);
  for (let before = 0; before !== own.size; ) {
    before = own.size;
    for (const { pid, ppid } of table) if (own.has(ppid)) own.add(pid);
  }
  const isMarked = new RegExp(`^Max file locks +${mark} `, "m");
  return table.filter(({ pid }) => !own.has(pid) && isMarked.test(readOrNothing(`/proc/${pid}/limits`)));
}
