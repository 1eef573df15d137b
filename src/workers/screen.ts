import { panesAt } from "./control.js";
import type { Worker } from "./worker.js";

/** The content of a worker's window. */
export interface Screen {
  columns: number;
  rows: number;
  cursor: { column: number; row: number };
  /** Its lines, with their colours. */
  screen: string;
}

const FORMAT = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y}";

/** The agent's own pane, else the loop's, looked at anew: tmux gives output to one reader, the loop. */
export async function screenOf(worker: Worker): Promise<Screen | undefined> {
  const { tmux, loop, agent } = await panesAt(worker);
  const pane = (agent ?? loop)?.pane;
  if (pane === undefined) return undefined;
  const look = ["display-message", "-p", "-t", pane, FORMAT, ";", "capture-pane", "-e", "-p", "-t", pane];
  const { ok, stdout } = await tmux.run(look);
  const [first = "", ...lines] = stdout.replace(/\n$/, "").split("\n");
  const [columns = 0, rows = 0, column = 0, row = 0] = first.split(" ").map(Number);
  return ok && columns > 0 ? { columns, rows, cursor: { column, row }, screen: lines.join("\n") } : undefined;
}

/** Types into it, byte by byte. false: the window is gone. */
export async function typeInto(worker: Worker, keys: string): Promise<boolean> {
  const { tmux, loop, agent } = await panesAt(worker);
  const pane = (agent ?? loop)?.pane;
  if (pane === undefined) return false;
  const bytes = [...Buffer.from(keys)].map((byte) => byte.toString(16).padStart(2, "0"));
  return (await tmux.run(["send-keys", "-t", pane, "-H", ...bytes])).ok;
}
