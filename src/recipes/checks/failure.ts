import { formatDuration } from "../../duration.js";
import type { CheckFinished } from "../../events.js";

/** A check that failed, as the next prompt tells it. */
export interface Failure {
  command: string;
  /** `exit code 1` */
  how: string;
  /** The end of what it printed. */
  output: string;
}

export function failureOf(check: CheckFinished, timeoutMs: number): Failure {
  return { command: check.command, how: howItFailed(check, timeoutMs), output: check.output };
}

/** A command that is not there is named as such. */
function howItFailed({ exitCode, signal, timedOut }: CheckFinished, timeoutMs: number): string {
  if (timedOut) return `timed out after ${formatDuration(timeoutMs)}`;
  if (signal !== null) return `killed by ${signal}`;
  if (exitCode === 127) return "exit code 127: command not found";
  return exitCode === null ? "it could not be started" : `exit code ${exitCode}`;
}
