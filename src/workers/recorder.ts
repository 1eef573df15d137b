import { constants } from "node:os";
import type { AgentFinished, IterationFinished, LoopEvent, RunFinished } from "../events.js";
import { makePrivateFolder } from "../records/files.js";
import { isSuccess, stopRow } from "../stop-reasons.js";
import type { WorkerFolder } from "./folder.js";
import { logIteration, type Mark } from "./iterations-log.js";
import { localTimestamp } from "./local-time.js";
import { updateState, type WorkerState, type WorkerStatus, writeState } from "./state-file.js";

export interface Recorder {
  /** Writes down what happened and returns what to say of it. */
  event(event: LoopEvent): string[];
  /** The state as it was last seen: people may have changed it meanwhile. */
  state(): WorkerState;
}

/** Keeps `state.json` and `iterations.log` of a worker up to date. */
export function createRecorder(folder: WorkerFolder, initial: WorkerState): Recorder {
  let state = initial;
  let exit = 0;
  let silent = false;
  let reason = "";
  // A loop that asked nobody has failed for a limit of before.
  let isLimited = true;
  const damage: string[] = [];
  const update = (change: (before: WorkerState) => Partial<WorkerState>): void => {
    makePrivateFolder(folder.path);
    state = updateState(folder, change, state, (what) => damage.push(what)) ?? state;
  };

  const took = (event: LoopEvent): [Mark, string, said?: string][] => {
    switch (event.type) {
      case "run.resumed":
        // A new process comes with its limits; one that was paused finds them in the file.
        update(() => ({ status: "running", ...(event.limits && { max_iterations: state.max_iterations }) }));
        return [
          ["RESUME", `after iteration ${event.iterations}`, `resumed after iteration ${event.iterations}`],
        ];
      case "run.paused":
        update(() => ({ status: "paused" }));
        return [
          ["PAUSE", `after iteration ${event.iterations}`, `paused after iteration ${event.iterations}`],
        ];
      case "iteration.started": {
        const { iteration } = event;
        update(() => ({
          current_iteration: iteration,
          last_iteration_started: localTimestamp(new Date(event.ts)),
        }));
        const which = `iteration ${iteration}/${state.max_iterations}`;
        return [["START", which, `starting ${which}`]];
      }
      case "agent.finished":
        exit = exitOf(event);
        silent = event.stopped === "inactivity";
        isLimited = event.limit !== undefined;
        return [];
      case "iteration.finished":
        reason = event.reason;
        update((before) => counted(before, event));
        return ended(event, exit, silent, state.inactivity_timeout);
      case "backoff.started": {
        const retry = `retrying in ${event.seconds}s (attempt ${event.attempt}/${event.maxAttempts})`;
        const which = `iteration ${event.iteration}`;
        return [["FAIL", `${which} exit=${exit} ${retry}`, `${which} failed (exit: ${exit}), ${retry}`]];
      }
      case "limit.waiting": {
        const wait = `usage limit of ${event.agent}, waiting until ${localTimestamp(new Date(event.until)).slice(0, 19)}`;
        return [["WAIT", `iteration ${event.iteration} ${wait}`, wait]];
      }
      case "run.finished":
        update(() => statusAfter(event));
        return finished(event, reason, isLimited ? 0 : state.consecutive_failures);
      default:
        return [];
    }
  };

  return {
    state: () => state,
    event(event) {
      if (event.type === "run.started") writeState(folder, state);
      const news = took(event);
      const lines = [...damage.splice(0).map(warning), ...news];
      const at = new Date(event.ts);
      for (const [mark, text] of lines) logIteration(folder, at, mark, text);
      return lines.flatMap(([, , said]) => (said === undefined ? [] : [`[ralph] ${folder.name}: ${said}`]));
    },
  };
}

const warning = (what: string): [Mark, string, said?: string] => ["WARN", what, `warning: ${what}`];

/** As a shell tells it: a signal is 128 and its number, never 0. */
function exitOf({ exitCode, signal, error, stopped }: AgentFinished): number {
  // It had done what it was asked for when ralph ended it.
  if (stopped === "done") return 0;
  if (exitCode !== null) return exitCode;
  const number = signal === null ? undefined : constants.signals[signal as NodeJS.Signals];
  return number === undefined ? (error === null ? 0 : 1) : 128 + number;
}

function counted(before: WorkerState, { totals }: IterationFinished): Partial<WorkerState> {
  const failed = totals.consecutiveFailures > 0;
  return {
    consecutive_failures: totals.consecutiveFailures,
    total_failures: before.total_failures + (failed ? 1 : 0),
  };
}

function ended(
  { iteration, durationMs, totals }: IterationFinished,
  exit: number,
  silent: boolean,
  timeout: number,
): [Mark, string, said?: string][] {
  const [long, short] = [duration(durationMs, " "), duration(durationMs, "")];
  const end = `iteration ${iteration} exit=${exit} duration=${short}`;
  if (silent) {
    const what = `inactivity timeout (${timeout}s), restarting`;
    return [
      ["TIMEOUT", `iteration ${iteration} ${what}`, what],
      ["END", end],
    ];
  }
  const done = `iteration ${iteration} completed (exit: ${exit}, duration: ${long})`;
  return [totals.consecutiveFailures > 0 ? ["END", end] : ["END", end, done]];
}

/** `3m 42s`, `1h 2m 3s`. */
function duration(ms: number, between: string): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const shown = first === -1 ? parts.slice(-1) : parts.slice(first);
  return shown.map(([count, unit]) => `${count}${unit}`).join(between);
}

/** An end from outside leaves the status to whoever caused it: a kill, a pause, or a crash. */
function statusAfter({ reason, exitCode }: RunFinished): { status?: WorkerStatus } {
  const status = exitCode === 0 ? "stopped" : stopRow(reason)?.worker;
  return status == null ? {} : { status };
}

function finished(
  { reason, exitCode, iterations, message }: RunFinished,
  last: string,
  failures: number,
): [Mark, string, said?: string][] {
  const say = (mark: Mark, text: string): [Mark, string, string][] => [[mark, text, text]];
  if (reason === "interrupted") return [["STOP", "interrupted"]];
  if (isSuccess(reason) && last === "done pattern matched")
    return say("DONE", "done pattern matched, stopping loop");
  if (exitCode === 0) return say("COMPLETE", `loop complete after ${iterations} iterations`);
  if (reason === "max_iterations")
    return say(
      "FAIL",
      `stopped: max_iterations (not verified as done after ${iterations} iterations: ${oneLine(last)})`,
    );
  if (reason === "agent_failed" && (failures > 0 || message === undefined))
    return say("FAIL", `${failures} consecutive failures, stopping loop`);
  if (reason === "error") return say("ERROR", `error: ${oneLine(message ?? reason)}`);
  if (reason === "agent_failed") return say("FAIL", `stopped: ${oneLine(message ?? reason)}`);
  return say("STOP", `stopped: ${reason}${message === undefined ? "" : ` (${oneLine(message)})`}`);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
