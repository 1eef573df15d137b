import { z } from "zod";
import { formatDuration } from "../duration.js";
import type { CheckFinished, Json } from "../events.js";
import { normalForm } from "../normal-form.js";
import { digest } from "../records/digest.js";
import { fenced, oneLine } from "./excerpt.js";

/** A check that failed, as the next prompt tells it. */
export interface Failure {
  command: string;
  /** `exit code 1` */
  how: string;
  /** The end of what it printed. */
  output: string;
  /** The same word for failures that name the same tests. */
  failing?: string | undefined;
}

export function failureOf(event: CheckFinished, timeoutMs: number): Failure {
  const { command, output, failing } = event;
  return { command, how: howItFailed(event, timeoutMs), output, failing };
}

/** The one wording for what went wrong with a check. */
export function howItFailed({ exitCode, signal, timedOut, why }: CheckFinished, timeoutMs: number): string {
  if (why !== undefined) return why;
  if (timedOut) return `timed out after ${formatDuration(timeoutMs)}`;
  if (signal !== null) return `killed by ${signal}`;
  if (exitCode === 127) return "exit code 127: command not found";
  return exitCode === null ? "it could not be started" : `exit code ${exitCode}`;
}

const TITLE_CHARS = 100;

/** For the agent that has to mend it. */
export function failureText({ command, how, output }: Failure): string {
  const said =
    output.trim() === "" ? "It printed nothing." : `Its output ends with:\n\n${fenced(output.trimEnd())}`;
  return `### ${oneLine(command, TITLE_CHARS)}\n\nFailed: ${how}. ${said}`;
}

/** How it failed is worth more than the end of a long command. */
const COMMAND_CHARS = 40;

/** `npm test (exit code 1), npm run lint (timed out after 2m0s)` */
export function namesOf(failures: Failure[]): string {
  return failures.map(({ command, how }) => `${oneLine(command, COMMAND_CHARS)} (${how})`).join(", ");
}

export function asJson(failures: Failure[]): Json {
  return failures.map(({ command, how, output }) => ({ command, how, output }));
}

const FAILURES = z.array(z.object({ command: z.string(), how: z.string(), output: z.string() })).catch([]);

/** What `asJson` wrote, as it is read from a journal. */
export function failuresIn(value: Json | undefined): Failure[] {
  return FAILURES.parse(value);
}

/** The same word for failures of the same kind. */
export function likeness(failures: string[]): Promise<string> {
  return digest(failures.map(normalForm).join("\n"));
}

/** All that tells a failed check from another: other tests that fail are another failure, whatever else is said. */
export function likenessOf({
  command,
  output,
  failing = "",
  why = "",
}: Pick<Failure, "command" | "output" | "failing"> & { why?: string }): string {
  return [command, output, failing, why].join("\n");
}
