import { existsSync, writeFileSync } from "node:fs";
import { agentFor } from "../agents/index.js";
import type { Limits, LoopEvent } from "../events.js";
import type { Signals } from "../loop/effects.js";
import { processTable } from "../process/table.js";
import { closeToOthers } from "../records/files.js";
import { pipesFolder, ralphHome } from "../records/home.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { harmless } from "../views/harmless.js";
import { print, type View } from "../views/view.js";
import { type Assignment, reportStarted } from "../workers/assignment.js";
import {
  localTimestamp,
  logIteration,
  readRecord,
  type WorkerFiles,
  type WorkerRecord,
  workerFiles,
  writeRecord,
} from "../workers/files.js";
import { paneHost } from "../workers/pane.js";
import { createRecorder, loggedStream, type Recorder } from "../workers/recorder.js";
import { readState, updateState, type WorkerState } from "../workers/state-file.js";
import { tmuxAt } from "../workers/tmux.js";
import { typePrompt } from "../workers/type-prompt.js";
import type { PreparedRun } from "./context.js";
import { type RunSpec, usesTerminal } from "./spec.js";
import { type Showing, showRun } from "./terminal.js";

export type Post = Assignment & { pane: string };

/** What a worker prints goes to its window and to its log. */
export function windowStream({ name }: Post): NodeJS.WriteStream {
  return loggedStream(process.stdout, workerFiles(ralphHome(), name));
}

/** Runs a loop in a worker's window. Returns the exit code. */
export async function hostWorker(
  prepared: PreparedRun,
  showing: Showing,
  out: NodeJS.WriteStream,
  post: Post,
): Promise<number> {
  const { spec } = prepared;
  const home = ralphHome();
  const files = workerFiles(home, post.name);
  if (existsSync(files.path)) closeToOthers(files.path);
  const record = await recordFor(spec, files, post);
  const recorder = createRecorder(files, stateFor(spec, files, runFolder(home, spec.id)));
  const control = takeSignals(files, runFolder(home, spec.id), out);
  const seen = (event: LoopEvent): void => {
    control.seen(event);
    if (event.type === "run.started" || event.type === "run.resumed") begin(event, recorder);
    if (event.type === "run.finished") writeRecord(files, { ...record, ended: event });
  };
  const view = (records: RunFolder): View => {
    writeRecord(files, record);
    return workerView(showing.view(records), out, recorder, seen);
  };
  const panes = paneHost(tmuxAt(home, post.tmux), post.pane, post.name, pipesFolder(home));
  const warn = (text: string): void => {
    logIteration(files, new Date(), "WARN", text);
    void say(out, [`[ralph] ${post.name}: warning: ${text}`]);
  };
  const terminal: Showing["terminal"] = {
    terminal: panes,
    typePrompt: (keyboard, prompt, stop) => typePrompt(keyboard, prompt, stop, { warn }),
  };
  const limits = (): Limits => ({ ...spec.limits, maxIterations: currentLimit(files, recorder) });
  try {
    return await showRun(prepared, { ...showing, view, limits, terminal }, control.signals);
  } finally {
    control.release();
  }
}

function begin(event: LoopEvent, recorder: Recorder): void {
  const done = event.type === "run.resumed" ? event.iterations : 0;
  reportStarted(done + 1, recorder.state().max_iterations);
}

/** People change it in the file while the loop runs. */
function currentLimit(files: WorkerFiles, recorder: Recorder): number {
  const given = existsSync(files.stateFile) ? readState(files).state?.max_iterations : 0;
  return given || recorder.state().max_iterations;
}

async function recordFor(spec: RunSpec, files: WorkerFiles, post: Post): Promise<WorkerRecord> {
  const before = readRecord(files);
  const agent = await agentFor(spec.agent.words[0] ?? "");
  return {
    v: 1,
    name: post.name,
    run: spec.id,
    recipe: spec.recipe.kind,
    workspace: spec.workspace,
    createdAt: before?.createdAt ?? new Date().toISOString(),
    tags: post.tags,
    env: post.ownEnv,
    tmux: post.tmux,
    onTerminal: usesTerminal(agent.name, spec.promptVia),
  };
}

/** Where the file is gone or cannot be read, the records of the run say where it stands. */
function stateFor(spec: RunSpec, files: WorkerFiles, run: RunFolder): WorkerState {
  const state = existsSync(files.stateFile) ? readState(files).state : undefined;
  const { recipe, limits } = spec;
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

function workerView(
  inner: View,
  out: NodeJS.WriteStream,
  recorder: Recorder,
  seen: (event: LoopEvent) => void,
): View {
  return {
    ...inner,
    event(event, state) {
      const lines = recorder.event(event);
      seen(event);
      const shown = lines.length === 0 ? undefined : say(out, lines);
      return inner.event(event, state) ?? shown;
    },
    // Nobody reads stderr of a window that has closed.
    note: (text) => void say(out, text.split("\n")),
  };
}

function say(out: NodeJS.WriteStream, lines: string[]): ReturnType<typeof print> {
  // The status line may stand where this is printed.
  const clear = out.isTTY ? "\r\u001b[K" : "";
  return print(out, lines.map((line) => `${clear}${harmless(line)}\n`).join(""));
}

/**
 * SIGTERM: the agent at work finishes, then the loop is paused and leaves; a second one ends it at once.
 * SIGHUP, from `ralph kill` or because its window is gone: ends at once. SIGINT, as by Ctrl+C in the window,
 * is for the agent; where none is at work, the window says what to do.
 */
function takeSignals(files: WorkerFiles, run: RunFolder, out: NodeJS.WriteStream) {
  const [stop, kill] = [new AbortController(), new AbortController()];
  let isLeaving = false;
  let isPaused = false;
  let isWaiting = false;
  const interrupt = (): void => {
    if (isWaiting || interruptAgent() === 0) void say(out, [noAgent(files.name, isPaused)]);
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
  const handlers = { SIGTERM: leave, SIGHUP: endNow, SIGINT: interrupt };
  const each = Object.entries(handlers) as [NodeJS.Signals, () => void][];
  for (const [name, handler] of each) process.on(name, handler);
  return {
    signals: { stop: stop.signal, kill: kill.signal } satisfies Signals,
    seen(event: LoopEvent): void {
      isWaiting = WAITS.includes(event.type);
      if (event.type === "run.paused") isPaused = true;
      if (event.type === "run.resumed") isPaused = false;
      if (isPaused && isLeaving) stop.abort();
    },
    release(): void {
      for (const [name, handler] of each) process.off(name, handler);
    },
  };
}

/** After these, nobody is at work until the next event. */
const WAITS: LoopEvent["type"][] = ["limit.waiting", "backoff.started", "run.paused"];

function noAgent(name: string, isPaused: boolean): string {
  const how = isPaused
    ? `ralph resume ${name} goes on with this loop`
    : `ralph pause ${name} holds this loop`;
  return `[ralph] ${name}: Ctrl+C is for the agent, and none is at work now: ${how}, ralph kill ${name} ends it`;
}

/** Whatever this process has started in a group of its own. Returns how many there were. */
function interruptAgent(): number {
  const groups = processTable().filter(({ pid, ppid, group }) => ppid === process.pid && group === pid);
  for (const { pid } of groups) {
    try {
      process.kill(-pid, "SIGINT");
    } catch {
      // It ended between the look and the signal.
    }
  }
  return groups.length;
}
