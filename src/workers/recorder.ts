import { appendFileSync, renameSync, statSync } from "node:fs";
import { constants } from "node:os";
import { stripVTControlCharacters } from "node:util";
import type { AgentFinished, IterationFinished, Limits, LoopEvent, RunFinished } from "../events.js";
import { makePrivateFolder } from "../records/files.js";
import { resultOf } from "../records/result.js";
import type { RunState } from "../records/run-state.js";
import { isSuccess, stopRow } from "../stop-reasons.js";
import { localTime, localTimestamp, logIteration, type WorkerFiles } from "./files.js";
import { updateState, type WorkerState, writeState } from "./state-file.js";

/** Clears the end of the loop on resume. */
const NO_END = { reason: undefined, result: undefined };

/** A line of `iterations.log`, and the text for the window. */
type News = [mark: Uppercase<string>, text: string, shown?: string];

/** Keeps `state.json` and `iterations.log` of a worker up to date. */
export function createRecorder(files: WorkerFiles, initial: WorkerState) {
  let state = initial;
  // If the loop asked no agent, an earlier limit made it fail.
  let last = { exit: 0, wasSilent: false, isLimited: true, reason: "" };
  let limits: Limits | undefined;
  const damage: News[] = [];
  const update = (change: (before: WorkerState) => Partial<WorkerState>): void => {
    makePrivateFolder(files.path);
    const warn = (what: string): number => damage.push(["WARN", what, `warning: ${what}`]);
    state = updateState(files, change, state, warn) ?? state;
  };

  const newsOf = (event: LoopEvent): News[] => {
    switch (event.type) {
      case "run.resumed":
        // A new process brings its limits; a paused one finds them in the file.
        update(() => ({
          ...NO_END,
          status: "running",
          ...(event.limits && { max_iterations: state.max_iterations }),
        }));
        return [bothWays("RESUME", "resumed", `after iteration ${event.iterations}`)];
      case "run.paused":
        update(() => ({ status: "paused" }));
        return [bothWays("PAUSE", "paused", `after iteration ${event.iterations}`)];
      case "iteration.started": {
        const last_iteration_started = localTimestamp(new Date(event.ts));
        update(() => ({ current_iteration: event.iteration, last_iteration_started }));
        return [bothWays("START", "starting", `iteration ${event.iteration}/${state.max_iterations}`)];
      }
      case "agent.finished": {
        const wasSilent = event.stopped === "inactivity";
        last = { ...last, exit: exitOf(event), wasSilent, isLimited: event.limit !== undefined };
        return [];
      }
      case "iteration.finished": {
        last.reason = event.reason;
        const { consecutiveFailures: failures } = event.totals;
        update(({ total_failures: before }) => ({
          consecutive_failures: failures,
          total_failures: before + (failures > 0 ? 1 : 0),
        }));
        return iterationEnd(event, last.exit, last.wasSilent ? state.inactivity_timeout : undefined);
      }
      case "backoff.started": {
        const retry = `retrying in ${event.seconds}s (attempt ${event.attempt}/${event.maxAttempts})`;
        const [which, exit] = [`iteration ${event.iteration}`, last.exit];
        return [["FAIL", `${which} exit=${exit} ${retry}`, `${which} failed (exit: ${exit}), ${retry}`]];
      }
      case "limit.waiting": {
        const wait = `usage limit of ${event.agent}, waiting until ${localTime(new Date(event.until))}`;
        return [["WAIT", `iteration ${event.iteration} ${wait}`, wait]];
      }
      case "run.finished": {
        // On an end from outside, its cause sets the status: a kill, a pause, or a crash.
        const status = event.exitCode === 0 ? "stopped" : stopRow(event.reason)?.worker;
        const result = resultOf("finished", event, limits);
        if (status != null) update(() => ({ status, reason: event.reason, result }));
        return [runEnd(event, result, last.reason, last.isLimited ? 0 : state.consecutive_failures)];
      }
      default:
        return [];
    }
  };

  return {
    /** As last read: people may have changed it meanwhile. */
    state: () => state,
    /** Records an event, and returns lines to print. */
    event(event: LoopEvent, run: Readonly<RunState>): string[] {
      const isOfRun = event.lane === undefined;
      if (isOfRun && event.type === "run.started") writeState(files, state);
      if (isOfRun && "limits" in event) limits = event.limits;
      if (event.type === "iteration.finished") update(() => ({ current_iteration: run.iterations }));
      const news = isOfRun ? newsOf(event) : newsOfLane(event);
      const lines = [...damage.splice(0), ...news];
      for (const [mark, text] of lines) logIteration(files, new Date(event.ts), mark, text);
      return lines.flatMap(([, , shown]) => (shown === undefined ? [] : [`[ralph] ${files.name}: ${shown}`]));
    },
  };
}

/** Lanes count their iterations themselves; how they end says nothing about the loop. */
function newsOfLane(event: LoopEvent): News[] {
  if (event.type !== "iteration.started" && event.type !== "iteration.finished") return [];
  const of = `${event.lane}: iteration ${event.iteration}`;
  return [event.type === "iteration.started" ? ["START", of] : ["END", `${of} ${event.reason}`]];
}

const bothWays = (mark: Uppercase<string>, verb: string, what: string): News => [
  mark,
  what,
  `${verb} ${what}`,
];

/** As a shell reports it: a signal is 128 and its number, never 0. */
function exitOf({ exitCode, signal, error, stopped }: AgentFinished): number {
  // The agent had finished when ralph ended it.
  if (stopped === "done") return 0;
  if (exitCode !== null) return exitCode;
  const number = signal === null ? undefined : constants.signals[signal as NodeJS.Signals];
  return number === undefined ? (error === null ? 0 : 1) : 128 + number;
}

/** `timeout`: how long the agent was silent, if ralph ended it for that. */
function iterationEnd(
  { iteration, durationMs, totals }: IterationFinished,
  exit: number,
  timeout: number | undefined,
): News[] {
  const spent = duration(durationMs);
  const end = `iteration ${iteration} exit=${exit} duration=${spent.replaceAll(" ", "")}`;
  if (timeout !== undefined) {
    const what = `inactivity timeout (${timeout}s), restarting`;
    return [
      ["TIMEOUT", `iteration ${iteration} ${what}`, what],
      ["END", end],
    ];
  }
  if (totals.consecutiveFailures > 0) return [["END", end]];
  return [["END", end, `iteration ${iteration} completed (exit: ${exit}, duration: ${spent})`]];
}

/** `3m 42s`, `1h 2m 3s`. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${h > 0 ? `${h}h ` : ""}${seconds >= 60 ? `${m}m ` : ""}${s}s`;
}

function runEnd(event: RunFinished, result: string, last: string, failures: number): News {
  const { reason, exitCode, iterations, message } = event;
  const both = (mark: Uppercase<string>, text: string): News => [mark, text, text];
  const why = oneLine(message ?? reason);
  if (reason === "interrupted") return ["STOP", "interrupted"];
  if (isSuccess(reason) && last === "done pattern matched")
    return both("DONE", "done pattern matched, stopping loop");
  if (exitCode === 0) return both("COMPLETE", `loop complete after ${iterations} iterations`);
  const unverified = `not verified as done after ${iterations} iterations: ${oneLine(last)}`;
  if (reason === "max_iterations") return both("FAIL", `${result} (${unverified})`);
  if (reason === "agent_failed" && (failures > 0 || message === undefined))
    return both("FAIL", `${failures} consecutive failures, stopping loop`);
  if (reason === "error") return both("ERROR", `error: ${why}`);
  if (reason === "agent_failed") return both("FAIL", `stopped: ${why}`);
  return both("STOP", `${result}${message === undefined ? "" : ` (${why})`}`);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

const MAX_BYTES = 16 * 1024 * 1024;

/** The stream, copied to the worker's log without colours. */
export function loggedStream(stream: NodeJS.WriteStream, { outputLog }: WorkerFiles): NodeJS.WriteStream {
  let bytes = statSync(outputLog, { throwIfNoEntry: false })?.size ?? 0;
  const write = (text: string): boolean => {
    const plain = stripVTControlCharacters(text).replaceAll("\r", "");
    try {
      // A night's work must not fill the disk: keep the current part and the one before it.
      if (bytes > MAX_BYTES) renameSync(outputLog, `${outputLog}.1`);
      if (bytes > MAX_BYTES) bytes = 0;
      appendFileSync(outputLog, plain, { mode: 0o600 });
      bytes += Buffer.byteLength(plain);
    } catch {
      // This is only a copy; the records of the run are elsewhere.
    }
    return stream.write(text);
  };
  return Object.create(stream, { write: { value: write } }) as NodeJS.WriteStream;
}
