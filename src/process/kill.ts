import { setTimeout as sleep } from "node:timers/promises";
import {
  hasUnreadable,
  type PidRange,
  type ProcessEntry,
  pidsWithEnvironment,
  processTable,
} from "./table.js";

export interface Tree {
  /** The leader of the group, if it is known; its children may have left the group and outlived it. */
  pid?: number;
  /** `NAME=value` in the environment of everything that was started below the leader. */
  marker: string;
}

const POLL_MS = 20;
const UNCLEAR_MS = 5;
const UNCLEAR_LOOKS = 4;
const AFTER_KILL_MS = 3000;

/**
 * SIGTERM to the whole tree, SIGKILL to what is left after the grace. Resolves with how many there were, when
 * nothing is left.
 * `pids` are those that members can have.
 */
export async function killTree(tree: Tree, graceMs: number, pids?: PidRange): Promise<number> {
  const members: Members = new Map();
  const told = new Set<number>();
  let unclear = UNCLEAR_LOOKS;
  const askUntil = performance.now() + graceMs;
  const forceUntil = askUntil + AFTER_KILL_MS;
  // Listed again and again: a tree can fork while it is being ended.
  for (;;) {
    const alive = membersOf(tree, members, pids);
    if (performance.now() > forceUntil) return told.size;
    if (alive.length === 0) {
      // The environment of a process that is just being started cannot be read.
      if (unclear === 0 || !hasUnreadable(pids)) return told.size;
      unclear -= 1;
      await sleep(UNCLEAR_MS);
      continue;
    }
    const signal = performance.now() >= askUntil ? "SIGKILL" : "SIGTERM";
    for (const { pid } of alive.filter((entry) => signal === "SIGKILL" || !told.has(entry.pid))) {
      told.add(pid);
      sendSignal(pid, signal);
    }
    await sleep(POLL_MS);
  }
}

/** The leader's group and session, its descendants, and every process that carries the marker. */
export function findTree(tree: Tree): ProcessEntry[] {
  return membersOf(tree, new Map());
}

/** Start times of all that ever belonged to the tree: one whose parent has died is still known. */
type Members = Map<number, string>;

function membersOf({ pid, marker }: Tree, members: Members, pids?: PidRange): ProcessEntry[] {
  const table = processTable(pids);
  if (table.length === 0) return [];
  const marked = new Set(pidsWithEnvironment(marker, pids));
  const belongs = (entry: ProcessEntry): boolean =>
    entry.pid === pid ||
    entry.group === pid ||
    entry.session === pid ||
    marked.has(entry.pid) ||
    members.get(entry.pid) === entry.startTime;
  const found = new Set(table.filter(belongs).map((entry) => entry.pid));
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const entry of table) if (found.has(entry.ppid)) found.add(entry.pid);
  }
  const alive = table.filter((entry) => found.has(entry.pid) && entry.pid !== process.pid);
  for (const entry of alive) members.set(entry.pid, entry.startTime);
  return alive;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended since it was listed.
  }
}
