import { formatDuration } from "../settings/duration.js";
import { formatCost } from "./format.js";

export interface StatusLine {
  update(parts: Partial<Status>): void;
  /** Takes the line away while something else is printed. */
  around(print: () => void): void;
  close(): void;
}

export interface Status {
  iteration: string;
  agent: string;
  activity: string;
  costUsd: number | null;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_FRAMES = ["|", "/", "-", "\\"];
const REDRAW_MS = 200;
const CLEAR = "\r\u001b[K";

/** One line at the bottom of a terminal that says what is going on now. */
export function createStatusLine(terminal: NodeJS.WriteStream, useEmoji: boolean): StatusLine {
  const frames = useEmoji ? FRAMES : PLAIN_FRAMES;
  const begun = performance.now();
  let status: Status = { iteration: "", agent: "", activity: "starting", costUsd: null };
  let frame = 0;

  const draw = (): void => {
    frame = (frame + 1) % frames.length;
    const text = [
      `${frames[frame]} ${status.iteration}`.trim(),
      status.agent,
      formatDuration(performance.now() - begun),
      status.costUsd === null ? "" : formatCost(status.costUsd),
      status.activity,
    ];
    const line = text.filter(Boolean).join(" · ").replace(/\s+/g, " ");
    terminal.write(`${CLEAR}${line.slice(0, (terminal.columns ?? 80) - 1)}`);
  };
  const timer = setInterval(draw, REDRAW_MS).unref();

  return {
    update(parts) {
      status = { ...status, ...parts };
    },
    around(print) {
      terminal.write(CLEAR);
      print();
    },
    close() {
      clearInterval(timer);
      terminal.write(CLEAR);
    },
  };
}
