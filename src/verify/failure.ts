import { formatDuration } from "../duration.js";
import type { CheckFinished, Json } from "../events.js";
import { oneLine } from "./excerpt.js";

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

export function failureOf(check: CheckFinished, timeoutMs: number): Failure {
  const { command, output, failing } = check;
  return { command, how: howItFailed(check, timeoutMs), output, failing };
}

/** A command that is not there is named as such. */
function howItFailed({ exitCode, signal, timedOut, why }: CheckFinished, timeoutMs: number): string {
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

/** In a fence that nothing inside can close. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
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

/** They are read from the journal, so they are looked at before they are told. */
export function failuresIn(value: Json | undefined): Failure[] {
  return Array.isArray(value) ? value.flatMap(failureIn) : [];
}

function failureIn(value: Json): Failure[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const { command, how, output } = value;
  const isWhole = typeof command === "string" && typeof how === "string" && typeof output === "string";
  return isWhole ? [{ command, how, output }] : [];
}
