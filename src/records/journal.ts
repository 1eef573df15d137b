import fs from "node:fs";
import { promisify } from "node:util";
import { describeSystemError, RalphError } from "../errors.js";
import type { LoopEvent } from "../events.js";
import { killTree } from "../process/kill.js";
import { markersSince } from "../process/run.js";
import { openFresh } from "./files.js";
import { linesOf, parseLine } from "./read.js";
import type { RunState } from "./run-state.js";
import { RUN_VARIABLE } from "./runs.js";

const BUFFER_CHARS = 64 * 1024;
const FLUSH_MS = 100;

/** One writer: the loop that holds the workspace's lock. Once it could not write, every call says so. */
export function openJournal(path: string) {
  const file = fs.openSync(path, "a", 0o600);
  let buffered = "";
  let timer: NodeJS.Timeout | undefined;
  let failure: RalphError | undefined;

  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const data = Buffer.from(buffered);
    buffered = "";
    if (failure !== undefined) return;
    try {
      fs.writeFileSync(file, data);
    } catch (error) {
      failure = new RalphError(`cannot write the journal ${path}: ${describeSystemError(error)}`, {
        code: "journal_unwritable",
        exitCode: 1,
        hint: "free some space, then continue with: ralph resume",
        cause: error,
      });
    }
  };
  const flush = (): void => {
    write();
    if (failure !== undefined) throw failure;
  };

  return {
    /** Written when this returns, as one line; what an agent says may wait a moment, decisions do not. */
    append(type: LoopEvent["type"], line: string): void {
      buffered += `${line}\n`;
      if (type !== "agent.event" || buffered.length > BUFFER_CHARS) flush();
      else timer ??= setTimeout(write, FLUSH_MS).unref();
    },
    /** Throws when the file is not there any more: what is written to it is lost. */
    check(): void {
      const [own, there] = [fs.fstatSync(file), fs.statSync(path, { throwIfNoEntry: false })];
      if (there?.ino === own.ino && there.dev === own.dev) return;
      throw new RalphError(`the records of the run are gone: somebody deleted or moved ${path}`, {
        code: "records_gone",
        isFinal: true,
        exitCode: 1,
        hint: "its work is still in the workspace",
      });
    },
    /** Resolves when everything so far would survive a power cut. */
    async sync(): Promise<void> {
      flush();
      await promisify(fs.fdatasync)(file);
    },
    close(): void {
      write();
      fs.closeSync(file);
    },
  };
}

/**
 * Makes a journal fit to be continued: a torn last line is cut off, and a file with unreadable lines is kept
 * beside it, whole. Returns the name of that copy, if one was made.
 */
export function repairJournal(path: string): string | undefined {
  let [end, isDamaged] = [0, false];
  for (const { text, next } of linesOf(path)) {
    end = next;
    isDamaged ||= parseLine(text) === undefined;
  }
  if (fs.statSync(path).size > end) fs.truncateSync(path, end);
  if (!isDamaged) return undefined;
  const copy = `${path}.corrupt-${Date.now()}`;
  fs.copyFileSync(path, copy);
  const repaired = `${path}.repaired`;
  const file = openFresh(repaired, 0o600);
  for (const { text } of linesOf(copy))
    if (parseLine(text) !== undefined) fs.writeFileSync(file, `${text}\n`);
  fs.closeSync(file);
  fs.renameSync(repaired, path);
  return copy;
}

const GRACE_MS = 2000;

/**
 * Ends the agents and checks that outlived runs that were killed. What a call left running that has ended is left
 * alone. Returns when the first of those calls began, in milliseconds; undefined: none was cut off.
 */
export async function endCutOff(states: RunState[]): Promise<number | undefined> {
  const open = states.filter(({ startedAt, status }) => startedAt !== "" && status !== "finished");
  const begun = open.map(({ calls, lastAt }) => Date.parse(calls?.since ?? lastAt));
  const markers = open.flatMap(({ run }, at) => markersSince(`${RUN_VARIABLE}=${run}`, begun[at] as number));
  await Promise.all(markers.map((marker) => killTree({ marker }, GRACE_MS)));
  return begun.length === 0 ? undefined : Math.min(...begun);
}
