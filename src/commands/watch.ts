import { RalphError } from "../errors.js";
import { PROGRAM } from "../package-folder.cjs";
import { capture } from "../process/capture.js";
import type { Command } from "../process/run.js";
import { interactive } from "../process/run.js";
import { ralphHome } from "../records/home.js";
import { createRedactor } from "../records/redact.js";
import { exitCodeOf } from "../stop-reasons.js";
import type { WatchAction } from "../views/watch/state.js";
import { type WatchEffects, watchScreen } from "../views/watch/watch.js";
import { loopRows } from "../workers/worker.js";
import { workerNamed } from "./find.js";
import { formatterFor, type LookFlags, surviveClosedPipe } from "./output.js";

/** What is on the disk; what a key asks for, the command of that name does. */
const EFFECTS: WatchEffects = { rows: () => loopRows(ralphHome(), () => {}), act };

/** `ralph watch`: all workers and runs on a live screen. */
export async function watch(flags: Omit<LookFlags, "json">, effects = EFFECTS): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY || process.env["TERM"] === "dumb")
    throw new RalphError("ralph watch needs a terminal", {
      code: "terminal_missing",
      hint: "ralph ls prints the same once",
    });
  surviveClosedPipe();
  const style = { paint: formatterFor(flags).paint, useEmoji: flags.emoji ?? true };
  const end = await watchScreen(effects, style, createRedactor(process.env));
  return end === "quit" ? 0 : exitCodeOf("interrupted");
}

async function act(action: WatchAction, name: string): Promise<string> {
  if (action === "attach") return await attach(name);
  if (action === "logs") return await handOver(paged(["logs", name, "--follow"]));
  const { ok, stdout, stderr } = await capture(ralph([action, name]));
  const said = (stdout || stderr).trim().replace(/^ralph: \w+: /, "");
  if (ok) return said;
  throw new RalphError(said, { code: "action_failed" });
}

function ralph(args: string[]): Command {
  return { file: process.execPath, args: [PROGRAM, ...args], cwd: process.cwd(), env: process.env };
}

/** What it would complain about is told on the screen in place of a flash. */
async function attach(name: string): Promise<string> {
  const { status } = workerNamed(name);
  if (status === "running" || status === "paused") return await handOver(ralph(["attach", name]));
  throw new RalphError(`${name} is ${status}; l shows its log`, { code: "worker_not_running" });
}

/** A log that is over stays until it was read. */
const PAGE =
  'printf "%s\\n" "-- Ctrl+C goes back --"; "$@"; printf "%s" "-- the end; Enter goes back --"; read -r _';

function paged(args: string[]): Command {
  const { file, args: words, ...rest } = ralph(args);
  return { file: "/bin/sh", args: ["-c", PAGE, "ralph", file, ...words], ...rest };
}

async function handOver(command: Command): Promise<string> {
  const { exitCode, signal } = await interactive(command);
  const isLeft = exitCode === 0 || exitCode === 130 || signal === "SIGINT";
  return isLeft ? "" : `it ended with exit ${exitCode}`;
}
