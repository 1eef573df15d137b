import { setTimeout as sleep } from "node:timers/promises";
import type { RunFolder } from "../../records/runs.js";
import { screenOf, typeInto } from "../../workers/control.js";
import { readWorker, type Worker } from "../../workers/worker.js";
import type { Listener } from "./live.js";
import { shownJson } from "./text.js";

/** The worker that is the loop of a run; undefined: it has no window. */
function workerOf(run: RunFolder): Worker | undefined {
  const { worker: name } = run.shown();
  const worker = name === undefined ? undefined : readWorker(run.home, name);
  return worker?.record?.run === run.id && worker.loop !== undefined ? worker : undefined;
}

const LOOK_MS = 120;

/** Tells what the window shows, each time that it shows something else, until it is gone. */
export async function tellScreens(run: RunFolder, { write, signal }: Listener): Promise<void> {
  let last = "";
  while (!signal.aborted) {
    const worker = workerOf(run);
    const screen = worker && (await screenOf(worker));
    const text = shownJson(screen ?? null);
    if (text !== last) await write(`event: screen\ndata: ${text}\n\n`);
    last = text;
    if (screen === undefined) return;
    await sleep(LOOK_MS);
  }
}

export async function typeTo(run: RunFolder, keys: string): Promise<boolean> {
  const worker = workerOf(run);
  return worker !== undefined && (await typeInto(worker, keys));
}
