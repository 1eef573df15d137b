import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoopEvent } from "../../src/events.js";
import { eventually, type Project, type Result } from "../kit.js";
import { differences, expected, type Undisturbed } from "./compare.js";
import { endingOf, journalFile, journalOf, processesOf } from "./ending.js";
import { projectFor, type Script } from "./scripts.js";

const SIDES = ["before", "torn", "after"] as const;

/** A moment at which ralph is killed: at a line of its journal. */
export interface KillPoint {
  line: number;
  side: (typeof SIDES)[number];
}

const PRELOAD = `--require=${join(import.meta.dirname, "kill-at.cjs")}`;

export async function undisturbed(script: Script): Promise<Undisturbed> {
  const p = projectFor(script);
  const { code, all } = await p.ralph(...script.command);
  if (code === 2) throw new Error(all);
  if (script.worker !== undefined) await hasEnded(p);
  const events = journalOf(p);
  const [begun = 0, ended = 0] = [events[0], events.at(-1)].map((event) => Date.parse(event?.ts ?? ""));
  return { ending: endingOf(p), events, durationMs: ended - begun };
}

/** Around every decision of ralph's own; after all that an agent said, and within the last of it, its result. */
export function killPoints(events: LoopEvent[]): KillPoint[] {
  const isSaid = (index: number): boolean => events[index]?.type === "agent.event";
  const sidesOf = (index: number): readonly KillPoint["side"][] => {
    if (!isSaid(index)) return SIDES;
    return isSaid(index + 1) ? ["after"] : ["torn", "after"];
  };
  return events.flatMap((_, index) => sidesOf(index).map((side) => ({ line: index + 1, side })));
}

/** Kills a run at one point and continues it. Returns what differs from an undisturbed one. */
export function killed(script: Script, point: KillPoint, whole: Undisturbed): Promise<string[]> {
  const { line, side } = point;
  return disturbed(script, whole, async (p) => {
    const first = await p.start(script.command, { env: faultyNode(p, script, point) }).result;
    if (script.worker !== undefined) await hasEnded(p);
    else if (first.code !== null) throw new Error(`it was not killed: ${first.all}`);
    return whole.events.slice(0, side === "after" ? line : line - 1);
  });
}

/** The same at a moment: so long after its journal was there. */
export function killedAfter(script: Script, ms: number, whole: Undisturbed): Promise<string[]> {
  return disturbed(script, whole, async (p) => {
    const { child, result } = p.start(script.command);
    await eventually(() => journalFile(p) !== undefined);
    await Promise.race([result, sleep(ms)]);
    child.kill("SIGKILL");
    await result;
    return journalOf(p);
  });
}

/** `disturb` returns the events that were written until then. */
async function disturbed(
  script: Script,
  whole: Undisturbed,
  disturb: (p: Project) => Promise<LoopEvent[]>,
): Promise<string[]> {
  const p = projectFor(script);
  try {
    const written = await disturb(p);
    if (journalOf(p).length !== written.length) throw new Error("it was not killed there");
    const again = await goOn(p, script);
    return differences(expected(whole, written), endingOf(p), again);
  } catch (error) {
    return [String(error)];
  } finally {
    rmSync(p.root, { recursive: true, force: true });
  }
}

function faultyNode(p: Project, { worker }: Script, { line, side }: KillPoint): NodeJS.ProcessEnv {
  const env = { NODE_OPTIONS: PRELOAD, KILL_AT: `${line} ${side}` };
  if (worker === undefined) return env;
  const node = `#!/bin/sh\nKILL_AT='${env.KILL_AT}' exec ${process.execPath} ${PRELOAD} "$@"\n`;
  return { NODE_OPTIONS: PRELOAD, NODE_OF_WINDOWS: p.program("faulty-node", node) };
}

async function goOn(p: Project, { worker, command }: Script): Promise<Result> {
  if (worker === undefined) return p.ralph("resume");
  // A worker whose loop was never at work was not spawned: nothing is left of it.
  const isThere = existsSync(join(p.home, ".ralph/workers", worker));
  const again = await p.ralph(...(isThere ? ["resume", worker] : command));
  await hasEnded(p);
  return again;
}

/** The loop in its window, and the window. */
function hasEnded({ root }: Project): Promise<void> {
  return eventually(() => !processesOf(root).some((command) => /ralph\.js|main\.js|tmux/.test(command)));
}

/** Many at a time, as they mostly wait. */
export async function eachOf<Item>(
  items: Item[],
  atOnce: number,
  action: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await action(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
