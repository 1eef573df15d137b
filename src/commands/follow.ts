import { existsSync, readFileSync, statSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsed } from "../elapsed.js";
import { advanceRun } from "../records/lanes.js";
import { initialState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import { duration, wholeNumber } from "../settings/limits.js";
import { harmless } from "../views/harmless.js";
import { print, type View } from "../views/view.js";
import { endOf, readWorker, type Worker, warnOfDamage } from "../workers/worker.js";
import { loopMeant, nameOf, type WorkerOrRun } from "./find.js";
import { failure, type OutputFlags, printAll, viewFor, warn } from "./output.js";

export type LogFlags = OutputFlags & { follow?: boolean; lines?: string; events?: boolean };

export const DEFAULT_LINES = 100;
const POLL_MS = 200;

/** `ralph logs [LOOP]`: its output, or the events of its iterations. */
export async function logs(name: string | undefined, flags: LogFlags): Promise<number> {
  const count = flags.lines === undefined ? DEFAULT_LINES : wholeNumber("--lines", flags.lines, 1);
  const found = loopMeant(name, "latest");
  if (found.worker === undefined) return logsOfRun(found.run, count, flags);
  return logsOfWorker(found.worker, count, flags);
}

/** Its journal, as its own terminal shows it. */
export async function logsOfRun(
  run: RunFolder,
  count: number,
  flags: LogFlags,
  isOver = () => run.loop() === undefined,
): Promise<number> {
  const lines: string[] = [];
  const write = (text: string): boolean => {
    lines.push(...text.split("\n").slice(0, -1));
    lines.splice(0, lines.length - count);
    return true;
  };
  const out = Object.create(process.stdout, { write: { value: write } }) as NodeJS.WriteStream;
  const state = initialState(run.id);
  const show = async (to: NodeJS.WriteStream): Promise<View> =>
    (await viewFor(flags, { showAgent: !flags.events, out: to, live: false }))(run);
  let view = await show(out);
  let from = 0;
  for await (const { event, offset } of run.follow({ isOver: () => true })) {
    from = offset;
    await view.event(event, advanceRun(state, event));
  }
  if (from === 0 && !flags.follow) throw nothingYet(run.name());
  await printAll(lines.map((line) => `${line}\n`).join(""));
  view = await show(process.stdout);
  for await (const { event } of flags.follow ? run.follow({ from, isOver }) : [])
    await view.event(event, advanceRun(state, event));
  return 0;
}

function nothingYet(name: string): Error {
  return failure("log_missing", `${name} has no output yet`, undefined, 1);
}

async function logsOfWorker(worker: Worker, count: number, { follow, events }: LogFlags): Promise<number> {
  const { home, name, iterationsLog, outputLog } = worker;
  const path = events ? iterationsLog : outputLog;
  if (!existsSync(path) && !follow) throw nothingYet(name);
  // A log starts anew before it is too long to read at once.
  const all = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const last = all.toString("utf8").split("\n");
  await print(process.stdout, harmless(last.slice(-count - 1).join("\n")));
  // A character may be split between two pieces.
  const decoder = new StringDecoder("utf8");
  let offset = all.length;
  while (follow) {
    const { loop } = readWorker(home, name);
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size < offset) offset = 0;
    const more = size === offset ? Buffer.alloc(0) : readFileSync(path).subarray(offset);
    offset += more.length;
    await print(process.stdout, harmless(decoder.write(more)));
    if (loop === undefined) break;
    await sleep(POLL_MS);
  }
  return 0;
}

const WAIT_POLL_MS = 100;
/** As `timeout` of the system has it. */
const TIMED_OUT = 124;

/** `ralph wait [LOOP]`: returns when the loop has ended, with its exit code. */
export async function wait(name: string | undefined, { timeout }: { timeout?: string }): Promise<number> {
  const limit = timeout === undefined ? Number.POSITIVE_INFINITY : duration("--timeout", timeout, 0);
  const found = loopMeant(name, "latest");
  const until = elapsed() + limit;
  const exitCode = endChecker(found);
  for (;;) {
    const code = exitCode();
    if (code !== undefined) return code;
    if (elapsed() >= until) {
      const unit = /\d$/.test(timeout ?? "") ? " s" : "";
      warn(`${nameOf(found)} has not ended within ${timeout}${unit}`);
      return TIMED_OUT;
    }
    await sleep(Math.min(WAIT_POLL_MS, Math.max(0, until - elapsed())));
  }
}

function endChecker(found: WorkerOrRun): () => number | undefined {
  if (found.worker === undefined) {
    const { run } = found;
    return () => {
      if (run.loop() !== undefined) return undefined;
      const { status, finished } = run.state() ?? {};
      if (status === "finished" && finished !== undefined) return finished.exitCode;
      warn(`${run.name()} is crashed`);
      return 1;
    };
  }
  let known = found.worker.damage;
  return () => {
    const worker = readWorker(found.worker.home, found.worker.name);
    if (worker.damage !== known) warnOfDamage(worker, warn);
    known = worker.damage;
    // A paused loop without a process does not end by itself, but it may be resumed.
    return worker.loop === undefined && worker.status !== "paused" ? exitCodeOf(worker) : undefined;
  };
}

/** Its record says how it ended, even if its state file is unreadable. */
function exitCodeOf(worker: Worker): number {
  const { name, status } = worker;
  const ended = endOf(worker);
  if (status !== "crashed" && ended !== undefined) return ended.exitCode;
  if (status === "crashed" || status === "unknown") warn(`worker '${name}' is ${status}`);
  return 1;
}
