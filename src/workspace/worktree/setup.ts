import { RalphError } from "../../errors.js";
import { type Captured, capture } from "../../process/capture.js";
import { createRedactor } from "../../records/redact.js";
import { quietEnvironment } from "../git.js";

/** How a new worktree is made ready. */
export interface Setup {
  /** Shell command of the settings. */
  command: string | undefined;
  timeoutMs: number;
  /** Aborted: nothing is made. */
  signal: AbortSignal | undefined;
  /** What the user should know while it lasts. */
  tell(text: string): void;
}

/** Lines of a failed setup that are shown. */
const SHOWN_LINES = 10;

export async function runSetup(
  workspace: string,
  { command, timeoutMs, signal, tell }: Setup,
): Promise<void> {
  if (command === undefined) return;
  tell(`setting up the worktree: ${command}`);
  const ended = await capture(
    { file: "/bin/sh", args: ["-c", command], cwd: workspace, env: quietEnvironment() },
    { timeoutMs, ...(signal && { stop: signal }) },
  );
  if (ended.ok) return;
  const redact = createRedactor(process.env);
  if (!signal?.aborted) for (const line of lastLines(ended)) tell(redact(line));
  throw new RalphError(`setup failed in the new worktree (${howItEnded(ended)}): ${command}`, {
    code: "setup_failed",
    hint: "the worktree was taken away again",
  });
}

function lastLines({ stdout, stderr }: Captured): string[] {
  const lines = (stderr.trim() || stdout.trim()).split("\n");
  return lines.filter((line) => line !== "").slice(-SHOWN_LINES);
}

function howItEnded({ timedOut, exitCode, signal }: Captured): string {
  return timedOut ? "timed out" : (signal ?? `exit ${exitCode}`);
}
