import { RalphError } from "../errors.js";
import { agentPane, requireRunning } from "../workers/control.js";
import { recordOf } from "../workers/record.js";
import { workerNamed } from "./find-worker.js";

/** `ralph send NAME TEXT`: types into the terminal of the agent at work. */
export async function send(name: string, text: string): Promise<number> {
  const { home, folder, standing } = workerNamed(name);
  requireRunning(folder, standing);
  const record = recordOf(folder);
  if (!record.onTerminal) {
    throw new RalphError(`the agent of worker '${name}' reads no terminal`, {
      code: "no_terminal",
      exitCode: 1,
      hint: `ralph steer ${name} TEXT tells it to the next iteration`,
    });
  }
  const { tmux, agent } = await agentPane(home, record);
  if (agent === undefined) {
    throw new RalphError(`no agent of worker '${name}' is at work now`, { code: "no_agent", exitCode: 1 });
  }
  // tmux takes a last semicolon for the end of its command.
  const typed = await tmux.run(["send-keys", "-t", agent.pane, "-l", "--", text.replace(/;$/, "\\;")]);
  const entered = typed.ok ? await tmux.run(["send-keys", "-t", agent.pane, "Enter"]) : undefined;
  if (!entered?.ok) {
    throw new RalphError(`tmux could not type to worker '${name}': ${typed.stderr.trim()}`, {
      code: "tmux_failed",
      exitCode: 1,
    });
  }
  process.stdout.write(`sent to ${name}\n`);
  return 0;
}
