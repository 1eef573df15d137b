import { existsSync, rmSync } from "node:fs";
import { agentFor } from "../agents/index.js";
import type { LoopEvent } from "../events.js";
import { interruptChildren } from "../process/kill.js";
import { interactive } from "../process/run.js";
import { processTable } from "../process/table.js";
import { ralphHome } from "../records/home.js";
import { addSteering, hasAnswer, storeAnswer } from "../records/words.js";
import { readSpec, usesTerminal } from "../run/spec.js";
import { saysSomething } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import { howToResume } from "../views/summary.js";
import { endLoop, killWorker, panesAt, requireRunning } from "../workers/control.js";
import { workerNames } from "../workers/files.js";
import { readWorker, type Worker } from "../workers/worker.js";
import { git } from "../workspace/git.js";
import { runTeardown } from "../workspace/worktree/create.js";
import { branchOf, removeWorktree } from "../workspace/worktree/worktree.js";
import { loopMeant, loopOf, nameOf, refuseNameAlone, runOf, type WorkerOrRun, workerNamed } from "./find.js";
import { failure, note, requireTerminal, say, warn } from "./output.js";

/** `ralph attach [LOOP]`: shows the worker's window in this terminal. */
export async function attach(given: string | undefined): Promise<number> {
  const worker = runningWorker(given, (run) => [
    `${run} runs in another terminal, so it has no window to attach to`,
    `ralph logs ${run} --follow shows it live`,
  ]);
  const { name } = worker;
  requireTerminal("ralph attach", `ralph logs ${name} --follow shows what it prints`);
  const { tmux, loop } = await panesAt(worker);
  if (loop === undefined) throw windowGone(name, `ralph resume ${name} opens it again`);
  // A new session with this window alone: it ends with the window, and no other view changes.
  const view = `ralph-view-${process.pid}`;
  const { TMUX: _, ...env } = process.env;
  const args = [
    ...tmux.words,
    ...["new-session", "-s", view, "sleep 60", ";"],
    ...["link-window", "-k", "-s", loop.window, "-t", `${view}:^`, ";"],
    ...["set-option", "-t", view, "destroy-unattached", "on"],
  ];
  const { exitCode } = await interactive({ file: "tmux", args, cwd: process.cwd(), env });
  return exitCode ?? 1;
}

/** `ralph send [LOOP] TEXT`: types into the terminal of the current agent. */
export async function send(given: string | undefined, text: string): Promise<number> {
  refuseNameAlone(given, text, "send");
  const worker = runningWorker(given, (run) => [
    `the agent of ${run} does not read from a terminal`,
    `ralph steer ${run} TEXT adds it to the next prompt`,
  ]);
  const { name } = worker;
  const { agent: asked, promptVia } = readSpec(runOf({ worker }));
  const { name: kind } = await agentFor(asked.words[0] ?? "");
  if (!usesTerminal(kind, promptVia)) {
    const hint = `ralph steer ${name} TEXT adds it to the next prompt`;
    throw failure("no_terminal", `the agent of worker '${name}' does not read from a terminal`, hint, 1);
  }
  const { tmux, agent } = await panesAt(worker);
  if (agent === undefined) throw noAgent(name);
  // tmux takes a last semicolon for the end of its command.
  const typed = await tmux.run(["send-keys", "-t", agent.pane, "-l", "--", text.replace(/;$/, "\\;")]);
  const entered = typed.ok ? await tmux.run(["send-keys", "-t", agent.pane, "Enter"]) : undefined;
  if (entered?.ok) return say(`sent to ${name}`);
  const what = `tmux could not type to worker '${name}': ${typed.stderr.trim()}`;
  throw failure("tmux_failed", what, undefined, 1);
}

/** `ralph interrupt [LOOP]`: sends Ctrl+C to the current agent; the loop continues. */
export async function interrupt(given: string | undefined): Promise<number> {
  const found = loopMeant(given, "living");
  const { worker } = found;
  if (worker === undefined) {
    const name = nameOf(found);
    // An agent has a group of processes of its own.
    if (!interruptChildren(loopOf(found.run).pid)) throw noAgent(name);
    return say(`interrupted the agent of ${name}; its loop continues`);
  }
  const { name } = worker;
  requireRunning(worker);
  const { tmux, loop, agent } = await panesAt(worker);
  const pane = (agent ?? loop)?.pane;
  if (pane === undefined) throw windowGone(name);
  const isAtWork = agent !== undefined || processTable().some(({ ppid }) => ppid === worker.loop?.pid);
  if (!isAtWork) throw noAgent(name);
  await tmux.run(["send-keys", "-t", pane, "C-c"]);
  return say(`interrupted the agent of ${name}; its loop continues`);
}

function runningWorker(
  name: string | undefined,
  instead: (run: string) => [what: string, hint: string],
): Worker {
  const found = loopMeant(name, "living");
  if (found.worker === undefined) throw failure("worker_needed", ...instead(found.run.name()), 1);
  requireRunning(found.worker);
  return found.worker;
}

function windowGone(name: string, hint?: string): Error {
  return failure("window_gone", `the window of worker '${name}' is gone`, hint, 1);
}

function noAgent(name: string): Error {
  return failure("no_agent", `no agent of ${name} is running now`, undefined, 1);
}

/** After these events, the next iteration has not started. */
const BETWEEN: (LoopEvent["type"] | undefined)[] = [
  ...(["run.started", "run.resumed", "run.paused", "backoff.started", "limit.waiting"] as const),
  undefined,
];

/** `ralph steer [LOOP] TEXT`: adds a text to the next prompt, once. */
export async function steer(given: string | undefined, text: string): Promise<number> {
  saysSomething("TEXT", text);
  refuseNameAlone(given, text, "steer");
  const found = loopMeant(given, "living");
  const name = nameOf(found);
  const run = runOf(found);
  const spec = readSpec(run);
  if (found.worker?.status !== "paused") loopOf(run, name);
  const limit = found.worker?.state?.max_iterations || spec.limits.maxIterations;
  const isAtIteration = !BETWEEN.includes(run.lastEvent()?.type);
  const isLast = isAtIteration && (run.state()?.iterations ?? 0) + 1 >= limit;
  addSteering(run, text);
  if (!isLast) return say(`the next iteration of ${name} gets this text`);
  const last = `${name} is in its last iteration (${limit} of ${limit})`;
  return say(`${last}: ralph keeps the text until ralph resume ${name} --max-iterations N`);
}

/** `ralph answer [LOOP] TEXT`: keeps the answer to the agent's question until the run continues. */
export async function answer(given: string | undefined, text: string): Promise<number> {
  saysSomething("TEXT", text);
  refuseNameAlone(given, text, "answer");
  const found = loopMeant(given, "asking");
  const name = nameOf(found);
  const run = runOf(found);
  const { question, limit } = run.state() ?? {};
  const isRunning = run.loop() !== undefined;
  if (question === undefined || isRunning) {
    const hint = isRunning
      ? `it is running: ralph steer ${name} TEXT adds to its next prompt`
      : "you can answer only a run that stopped with a question";
    throw failure("nothing_asked", `${name} has not asked anything`, hint, 1);
  }
  if (hasAnswer(run)) warn("this replaces your earlier answer");
  storeAnswer(run, question, text);
  return say(`answered; ${howToResume(name, { limit })} continues it`);
}

/** `ralph kill [LOOP…]`: ends the loops and their agents. Their work stays. */
export async function kill(names: string[], flags: { rmWorktree?: boolean }): Promise<number> {
  const all = (names.length === 0 ? [undefined] : names).map((name) => loopMeant(name, "living"));
  await Promise.all(all.map((found) => killOne(found, flags.rmWorktree ?? false)));
  return 0;
}

async function killOne(found: WorkerOrRun, removes: boolean): Promise<void> {
  const name = nameOf(found);
  // The loop commits leftovers when it ends: check the worktree before that.
  const { worktree: path, origin = path ?? "" } = removes ? readSpec(runOf(found)) : {};
  const isThere = path !== undefined && existsSync(path);
  if (removes && !isThere) warn(`${name} has no worktree`);
  const changes = isThere ? await git(path, ["--no-optional-locks", "status", "--porcelain"]) : undefined;
  const { worker } = found;
  const hasEnded = worker?.loop === undefined && ["stopped", "failed"].includes(worker?.status ?? "");
  // The second signal ends the agent, too: another one, because a process that is held up takes two equal ones for one.
  if (worker === undefined) await endLoop(loopOf(found.run), ["SIGTERM", "SIGINT"]);
  else if (!hasEnded) await killWorker(worker);
  if (hasEnded) warn(`worker '${name}' is not running`);
  else say(`killed ${name}`);
  if (path !== undefined && changes !== undefined)
    await remove(origin, path, changes.ok && changes.stdout === "");
}

async function remove(origin: string, path: string, isClean: boolean): Promise<number> {
  if (!isClean) return warn(`kept the worktree ${path}: it holds uncommitted changes`);
  const { teardown: command } = (await loadSettings(origin)).settings;
  await runTeardown(path, { command, tell: note });
  if (await removeWorktree(origin, path)) return say(`removed the worktree ${path} and its branch`);
  // The branch stays until its work is merged.
  const { ok, stderr } = await git(origin, ["worktree", "remove", path]);
  if (!ok) return warn(`the worktree ${path} was kept: ${stderr.trim().split("\n", 1)[0]}`);
  return say(`removed the worktree ${path}; its work is on ${branchOf(path)}`);
}

/** `ralph clean [NAME]`: forgets workers that have ended. Their runs keep their records. */
export async function clean(names: string[]): Promise<number> {
  const home = ralphHome();
  const all = workerNames(home).map((name) => readWorker(home, name));
  const ended = all.filter(
    ({ status, loop }) => loop === undefined && ["stopped", "failed", "crashed"].includes(status),
  );
  const found = names.length === 0 ? ended : names.map((name) => workerNamed(name, home));
  for (const worker of found) {
    const { name, status, loop } = worker;
    if (loop !== undefined || status === "paused") {
      const what = `worker '${name}' has not ended (${status})`;
      throw failure("worker_running", what, `ralph kill ${name} ends it`, 1);
    }
    // Processes of its loop may still run, and nothing would find them later.
    if (status === "crashed") await killWorker(worker);
    rmSync(worker.path, { recursive: true, force: true });
    say(`cleaned ${name}`);
  }
  return found.length === 0 ? say("nothing to clean") : 0;
}
