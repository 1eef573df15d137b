import { setTimeout as sleep } from "node:timers/promises";
import { type ProcessEntry, pidsWithEnvironment, processTable } from "./table.js";

export interface Tree {
  /** The leader of the group, if it is known; its children may have left the group and outlived it. */
  pid?: number;
  /** `NAME=value` in the environment of everything that was started below the leader. */
  marker: string;
}

const POLL_MS = 20;
const AFTER_KILL_MS = 3000;

/** SIGTERM to the whole tree, SIGKILL to what is left after the grace. Resolves when nothing is left. */
export async function killTree(tree: Tree, graceMs: number): Promise<void> {
  const started = findTree(tree);
  signalAll(started, "SIGTERM");
  if (await goneWithin(tree, graceMs)) return;
  const deadline = Date.now() + AFTER_KILL_MS;
  // A tree that forks while it is being killed needs more than one pass.
  while (Date.now() < deadline) {
    signalAll(findTree(tree), "SIGKILL");
    if (await goneWithin(tree, POLL_MS * 2)) return;
  }
}

/** The leader's group, its descendants, and every process that carries the marker. */
export function findTree({ pid, marker }: Tree): ProcessEntry[] {
  const table = processTable();
  const marked = new Set(pidsWithEnvironment(marker));
  const members = new Set(marked);
  if (pid !== undefined) members.add(pid);
  for (const entry of table) if (entry.group === pid) members.add(entry.pid);
  addDescendants(members, table);
  return table.filter((entry) => members.has(entry.pid) && entry.pid !== process.pid);
}

function addDescendants(members: Set<number>, table: ProcessEntry[]): void {
  let before = 0;
  while (before !== members.size) {
    before = members.size;
    for (const entry of table) if (members.has(entry.ppid)) members.add(entry.pid);
  }
}

async function goneWithin(tree: Tree, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  for (;;) {
    if (findTree(tree).length === 0) return true;
    if (Date.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
}

function signalAll(entries: ProcessEntry[], signal: NodeJS.Signals): void {
  for (const { pid } of entries) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended between the look and the signal.
    }
  }
}
