import { statSync } from "node:fs";
import { PROGRAM } from "../package-folder.cjs";
import { type Command, capture, interactive } from "../process/run.js";
import { ralphHome } from "../records/home.js";
import { createRedactor } from "../records/redact.js";
import { runFolder } from "../records/runs.js";
import { readSpec } from "../run/spec.js";
import { exitCodeOf } from "../stop-reasons.js";
import { createConsoleFormatter } from "../views/agent-lines.js";
import type { Follow } from "../views/watch/live.js";
import type { WatchAction, WatchPage } from "../views/watch/state.js";
import { type WatchEffects, watchScreen } from "../views/watch/watch.js";
import { loopRows } from "../workers/worker.js";
import { runOf, workerNamed, workerOrRun } from "./find.js";
import { failure, formatOptions, type PrintFlags, requireTerminal } from "./output.js";

/** Reads the records; each action runs the command of the same name. */
const EFFECTS: WatchEffects = { rows: () => loopRows(ralphHome(), () => {}), act, page, follow };

const SHOWN = { showTimestamp: false, maxOutputLines: 8, maxOutputChars: 1000, showProgress: false };

/** `ralph watch`: all workers and runs on a live screen. */
export async function watch(flags: Omit<PrintFlags, "json">, effects = EFFECTS): Promise<number> {
  requireTerminal("ralph watch", "ralph ls prints the same once");
  const format = { ...formatOptions(flags, process.stdout), ...SHOWN };
  const end = await watchScreen(effects, () => createConsoleFormatter(format), createRedactor(process.env));
  return end === "quit" ? 0 : exitCodeOf("interrupted");
}

/** A journal may be long: this much of its end is read. */
const TAIL_BYTES = 256 * 1024;

async function* follow(...[id, from, signal]: Parameters<Follow>): ReturnType<Follow> {
  const run = runFolder(ralphHome(), id);
  const size = statSync(run.journal, { throwIfNoEntry: false })?.size ?? 0;
  const start = from ?? Math.max(0, size - TAIL_BYTES);
  // The first event names the limits.
  if (from === undefined && start > 0)
    for await (const { event } of run.follow({ isOver: () => true })) {
      yield { event, offset: start };
      break;
    }
  yield* run.follow({
    from: start,
    isOver: () => signal.aborted || run.loop() === undefined,
  });
}

async function act(action: WatchAction, name: string, text?: string): Promise<string> {
  const found = workerOrRun(name);
  if (action === "attach") {
    // Otherwise its error would flash by.
    const { status } = workerNamed(name);
    if (status !== "running" && status !== "paused")
      throw failure("worker_not_running", `${name} is ${status}; press l for its log`);
    const { exitCode, signal } = await interactive(ralph("attach", name));
    const isLeft = exitCode === 0 || exitCode === 130 || signal === "SIGINT";
    return isLeft ? "" : `it ended with exit ${exitCode}`;
  }
  if (action === "resume" && found.worker === undefined && found.run.loop() === undefined)
    throw failure("run_not_running", `${name} has ended; continue it in a terminal: ralph resume ${name}`);
  const said = await output(ralph(action, name, ...(text === undefined ? [] : ["--", text])));
  return action === "pause" ? `pausing ${name}: the agent finishes its iteration first` : said;
}

function ralph(...words: string[]): Command {
  return { file: process.execPath, args: [PROGRAM, ...words], cwd: process.cwd(), env: process.env };
}

async function output(command: Command): Promise<string> {
  const { ok, stdout, stderr } = await capture(command);
  const said = (stdout || stderr).trim();
  if (ok) return said;
  throw failure("action_failed", said.replace(/^ralph: \w+: /, ""));
}

async function page(which: WatchPage, name: string): Promise<string> {
  if (which === "report") return await output(ralph("report", name, "--no-emoji"));
  const { workspace, base } = readSpec(runOf(workerOrRun(name)));
  const { diffSince } = await import("../workspace/changes.js");
  const diff = await diffSince({ workspace, base });
  if (diff === undefined) throw failure("no_diff", `git cannot tell what ${name} changed in ${workspace}`);
  return diff === "" ? `${name} changed nothing in ${workspace}.` : diff;
}
