import { RalphError } from "../errors.js";
import { interactive } from "../process/run.js";
import { processTable } from "../process/table.js";
import { panesAt, requireRunning } from "../workers/control.js";
import { recordOf } from "../workers/worker.js";
import { say, workerNamed } from "./find.js";

/** `ralph attach NAME`: shows the worker's window in this terminal. */
export async function attach(name: string): Promise<number> {
  const worker = workerNamed(name);
  requireRunning(worker);
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new RalphError("attach needs a terminal", {
      code: "no_terminal",
      hint: `ralph logs ${name} --follow shows what it prints`,
    });
  }
  const { tmux, loop } = await panesAt(worker);
  if (loop === undefined) throw windowGone(name, `ralph resume ${name} opens it again`);
  // A session of its own with this window alone: it ends with the window, and others keep looking at theirs.
  const view = `ralph-view-${process.pid}`;
  const { TMUX: _, ...env } = process.env;
  const { exitCode } = await interactive({
    file: "tmux",
    args: [
      ...tmux.words,
      ...["new-session", "-s", view, "sleep 60", ";"],
      ...["link-window", "-k", "-s", loop.window, "-t", `${view}:^`, ";"],
      ...["set-option", "-t", view, "destroy-unattached", "on"],
    ],
    cwd: process.cwd(),
    env,
  });
  return exitCode ?? 1;
}

/** `ralph send NAME TEXT`: types into the terminal of the agent at work. */
export async function send(name: string, text: string): Promise<number> {
  const worker = workerNamed(name);
  requireRunning(worker);
  if (!recordOf(worker).onTerminal) {
    throw new RalphError(`the agent of worker '${name}' reads no terminal`, {
      code: "no_terminal",
      exitCode: 1,
      hint: `ralph steer ${name} TEXT tells it to the next iteration`,
    });
  }
  const { tmux, agent } = await panesAt(worker);
  if (agent === undefined) throw noAgent(name);
  // tmux takes a last semicolon for the end of its command.
  const typed = await tmux.run(["send-keys", "-t", agent.pane, "-l", "--", text.replace(/;$/, "\\;")]);
  const entered = typed.ok ? await tmux.run(["send-keys", "-t", agent.pane, "Enter"]) : undefined;
  if (!entered?.ok) {
    throw new RalphError(`tmux could not type to worker '${name}': ${typed.stderr.trim()}`, {
      code: "tmux_failed",
      exitCode: 1,
    });
  }
  return say(`sent to ${name}`);
}

/** `ralph interrupt NAME`: Ctrl+C for the agent at work; the loop goes on. */
export async function interrupt(name: string): Promise<number> {
  const worker = workerNamed(name);
  requireRunning(worker);
  const { tmux, loop, agent } = await panesAt(worker);
  const pane = (agent ?? loop)?.pane;
  if (pane === undefined) throw windowGone(name);
  const isAtWork = agent !== undefined || processTable().some(({ ppid }) => ppid === worker.loop?.pid);
  if (!isAtWork) throw noAgent(name);
  await tmux.run(["send-keys", "-t", pane, "C-c"]);
  return say(`interrupted the agent of ${name}; its loop goes on`);
}

function windowGone(name: string, hint?: string): RalphError {
  return new RalphError(`the window of worker '${name}' is gone`, {
    code: "window_gone",
    exitCode: 1,
    hint,
  });
}

function noAgent(name: string): RalphError {
  return new RalphError(`no agent of worker '${name}' is at work now`, { code: "no_agent", exitCode: 1 });
}
