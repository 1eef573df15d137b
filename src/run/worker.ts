import { existsSync, writeFileSync } from "node:fs";
import type { LoopEvent } from "../events.js";
import type { Signals } from "../loop/effects.js";
import { interruptChildren } from "../process/kill.js";
import { closeToOthers } from "../records/files.js";
import { pipesFolder, ralphHome } from "../records/home.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { harmless } from "../views/harmless.js";
import { print, type View } from "../views/view.js";
import {
  type Assignment,
  localTimestamp,
  logIteration,
  reportStarted,
  type WorkerFiles,
  workerFiles,
  writeRecord,
} from "../workers/files.js";
import { paneHost } from "../workers/pane.js";
import { createRecorder, loggedStream } from "../workers/recorder.js";
import { readState, updateState, type WorkerState } from "../workers/state-file.js";
import { tmuxAt } from "../workers/tmux.js";
import { typePrompt } from "../workers/type-prompt.js";
import type { PreparedRun, RunSpec } from "./spec.js";
import { hostRun, type ShowOptions } from "./terminal.js";

export type Post = Assignment & { pane: string };

/** A worker prints to its window and to its log. */
export function windowStream({ name }: Post): NodeJS.WriteStream {
  return loggedStream(process.stdout, workerFiles(ralphHome(), name));
}

/** Runs a loop in a worker's window. Returns the exit code. */
export async function hostWorker(
  prepared: PreparedRun,
  showing: ShowOptions,
  out: NodeJS.WriteStream,
  post: Post,
): Promise<number> {
  const { spec } = prepared;
  const home = ralphHome();
  const files = workerFiles(home, post.name);
  if (existsSync(files.path)) closeToOthers(files.path);
  const folder = runFolder(home, spec.id);
  const recorder = createRecorder(files, stateFor(spec, files, folder));
  const say = (lines: string[]): ReturnType<typeof print> => {
    // Clears the status line, which may be where this is printed.
    const clear = out.isTTY ? "\r\u001b[K" : "";
    return print(out, lines.map((line) => `${clear}${harmless(line)}\n`).join(""));
  };
  const control = takeSignals(files, folder, say);
  const view = (records: RunFolder): View => {
    writeRecord(files, { run: spec.id, tags: post.tags, env: post.env, tmux: post.tmux });
    const inner = showing.view(records);
    return {
      ...inner,
      event(event, state) {
        const lines = recorder.event(event, state);
        control.seen(event);
        const { max_iterations } = recorder.state();
        if (event.type === "run.started") reportStarted(1, max_iterations);
        if (event.type === "run.resumed") reportStarted(event.iterations + 1, max_iterations);
        const shown = lines.length === 0 ? undefined : say(lines);
        return inner.event(event, state) ?? shown;
      },
      // A window that has closed shows no stderr.
      note: (text) => void say(text.split("\n")),
    };
  };
  const warn = (text: string): void => {
    logIteration(files, new Date(), "WARN", text);
    void say([`[ralph] ${post.name}: warning: ${text}`]);
  };
  const terminal: ShowOptions["terminal"] = {
    terminal: paneHost(tmuxAt(home, post.tmux), post.pane, post.name, pipesFolder(home)),
    typePrompt: (keyboard, prompt, stop) => typePrompt(keyboard, prompt, stop, { warn }),
  };
  // People may change it in the file while the loop runs.
  const limits: ShowOptions["limits"] = () => ({
    ...spec.limits,
    maxIterations: stateIn(files)?.max_iterations || recorder.state().max_iterations,
  });
  try {
    return await hostRun(prepared, { ...showing, view, limits, terminal }, control.signals);
  } finally {
    control.release();
  }
}

function stateIn(files: WorkerFiles): WorkerState | undefined {
  return existsSync(files.stateFile) ? readState(files).state : undefined;
}

/** The state file, or what the records of the run say where it is gone or damaged. */
function stateFor(spec: RunSpec, files: WorkerFiles, run: RunFolder): WorkerState {
  const { recipe, limits } = spec;
  const state = stateIn(files);
  if (state !== undefined) return { ...state, max_iterations: limits.maxIterations };
  const soFar = run.state();
  return {
    worker_name: files.name,
    prompt_file: "promptFile" in recipe ? (recipe.promptFile ?? null) : null,
    max_iterations: limits.maxIterations,
    current_iteration: soFar?.iterations ?? 0,
    status: "running",
    started: localTimestamp(new Date(spec.createdAt)),
    last_iteration_started: null,
    consecutive_failures: soFar?.consecutiveFailures ?? 0,
    total_failures: 0,
    done_pattern: "donePattern" in recipe ? (recipe.donePattern ?? null) : null,
    inactivity_timeout: limits.inactivityTimeoutMs / 1000,
  };
}

/** After these events no agent runs until the next event. */
const WAITS: LoopEvent["type"][] = ["limit.waiting", "backoff.started", "run.paused"];

/**
 * SIGTERM: the running agent finishes, then the loop pauses and its process ends; a second one ends it at once.
 * SIGHUP, from `ralph kill` or because the window is gone, ends it at once. SIGINT, such as Ctrl+C in the window,
 * goes to the agent; without a running agent, the window says what to do.
 */
function takeSignals(files: WorkerFiles, run: RunFolder, say: (lines: string[]) => unknown) {
  const { name } = files;
  const [stop, kill] = [new AbortController(), new AbortController()];
  let isLeaving = false;
  let isPaused = false;
  let isWaiting = false;
  const interrupt = (): void => {
    if (!isWaiting && interruptChildren(process.pid)) return;
    const how = isPaused ? `resume ${name} continues this loop` : `pause ${name} holds this loop`;
    const none = "Ctrl+C is for the agent, and no agent is running now";
    say([`[ralph] ${name}: ${none}: ralph ${how}, ralph kill ${name} ends it`]);
  };
  const endNow = (): void => {
    stop.abort();
    kill.abort();
  };
  const leave = (): void => {
    if (isLeaving) {
      endNow();
      return;
    }
    isLeaving = true;
    writeFileSync(run.pause, "", { flag: "a", mode: 0o600 });
    updateState(files, () => ({ status: "paused" }));
    if (isPaused) stop.abort();
  };
  const handlers = Object.entries({ SIGTERM: leave, SIGHUP: endNow, SIGINT: interrupt });
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return {
    signals: { stop: stop.signal, kill: kill.signal } satisfies Signals,
    seen({ type, lane }: LoopEvent): void {
      if (lane !== undefined) return;
      isWaiting = WAITS.includes(type);
      if (type === "run.paused" || type === "run.resumed") isPaused = type === "run.paused";
      if (isPaused && isLeaving) stop.abort();
    },
    release(): void {
      for (const [signal, handler] of handlers) process.off(signal, handler);
    },
  };
}
