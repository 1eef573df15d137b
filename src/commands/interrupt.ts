import { RalphError } from "../errors.js";
import { processTable } from "../process/table.js";
import { agentPane, requireRunning } from "../workers/control.js";
import { recordOf } from "../workers/record.js";
import { workerNamed } from "./find-worker.js";

/** `ralph interrupt NAME`: Ctrl+C for the agent at work; the loop goes on. */
export async function interrupt(name: string): Promise<number> {
  const { home, folder, standing } = workerNamed(name);
  requireRunning(folder, standing);
  const { tmux, loop, agent } = await agentPane(home, recordOf(folder));
  const pane = (agent ?? loop)?.pane;
  if (pane === undefined) {
    throw new RalphError(`the window of worker '${name}' is gone`, { code: "window_gone", exitCode: 1 });
  }
  if (agent === undefined && !hasChildren(standing.loop?.pid)) {
    throw new RalphError(`no agent of worker '${name}' is at work now`, { code: "no_agent", exitCode: 1 });
  }
  await tmux.run(["send-keys", "-t", pane, "C-c"]);
  process.stdout.write(`interrupted the agent of ${name}; its loop goes on\n`);
  return 0;
}

function hasChildren(loop: number | undefined): boolean {
  return processTable().some(({ ppid }) => ppid === loop);
}
