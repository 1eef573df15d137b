import { RalphError } from "../errors.js";
import { interactive } from "../process/interactive.js";
import { agentPane, requireRunning } from "../workers/control.js";
import { recordOf } from "../workers/record.js";
import { workerNamed } from "./find-worker.js";

/** `ralph attach NAME`: shows the worker's window in this terminal. */
export async function attach(name: string): Promise<number> {
  const { home, folder, standing } = workerNamed(name);
  requireRunning(folder, standing);
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new RalphError("attach needs a terminal", {
      code: "no_terminal",
      hint: `ralph logs ${name} --follow shows what it prints`,
    });
  }
  const record = recordOf(folder);
  const { tmux, loop } = await agentPane(home, record);
  if (loop === undefined) {
    throw new RalphError(`the window of worker '${name}' is gone`, {
      code: "window_gone",
      exitCode: 1,
      hint: `ralph resume ${name} opens it again`,
    });
  }
  // A session of its own with this window alone: it ends with the window, and others keep looking at theirs.
  const view = `ralph-view-${process.pid}`;
  const { TMUX: _, ...env } = process.env;
  const { exitCode } = await interactive({
    file: "tmux",
    args: [
      ...[...record.tmux.socket, ...(tmux.isPrivate ? ["-f", "/dev/null"] : []), "-u"],
      ...["new-session", "-s", view, "sleep 60", ";"],
      ...["link-window", "-k", "-s", loop.window, "-t", `${view}:^`, ";"],
      ...["set-option", "-t", view, "destroy-unattached", "on"],
    ],
    cwd: process.cwd(),
    env,
  });
  return exitCode ?? 1;
}
