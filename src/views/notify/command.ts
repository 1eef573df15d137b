import { formatDuration } from "../../duration.js";
import { type Captured, capture } from "../../process/capture.js";
import type { Redact } from "../../records/redact.js";
import type { Notice } from "./notice.js";

export interface CommandPlace {
  /** The project. */
  folder: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
}

const GRACE_MS = 500;

/** Runs a shell command with the notice on stdin. Resolves to why that failed. */
export async function tellCommand(
  command: string,
  notice: Notice,
  timeoutMs: number,
  { folder, env, redact }: CommandPlace,
): Promise<string | undefined> {
  const ended = await capture(
    { file: "/bin/sh", args: ["-c", command], cwd: folder, env, stdin: `${JSON.stringify(notice)}\n` },
    { timeoutMs, graceMs: GRACE_MS },
  );
  if (ended.ok) return undefined;
  return ended.timedOut ? `it took longer than ${formatDuration(timeoutMs)}` : redact(howItEnded(ended));
}

/** What it said last tells most. */
export function howItEnded({ exitCode, signal, spawnError, stderr }: Captured): string {
  const how = spawnError?.message ?? signal ?? `exit ${exitCode}`;
  const last = stderr.trimEnd().split("\n").at(-1) ?? "";
  return last === "" ? how : `${how}: ${last}`;
}
