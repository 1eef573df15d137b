import { formatDuration } from "../duration.js";
import type { CheckFinished, Json } from "../events.js";
import { digest, listOf } from "../records/files.js";
import type { Check } from "./check.js";
import { fenced, oneLine } from "./excerpt.js";
import { normalForm } from "./no-tests.js";

/** A check that failed, as the next prompt tells it. */
export interface Failure {
  name?: string | undefined;
  command: string;
  /** `exit code 1` */
  how: string;
  output: string;
  /** The same word for failures that name the same tests. */
  failing?: string | undefined;
  hint?: string | undefined;
  /** The agent learns only that it failed. */
  hidden?: true | undefined;
}

export function failureOf(failed: {
  check: Pick<Check, "hint" | "timeoutMs">;
  event: CheckFinished;
}): Failure {
  const { name, command, output, failing, hidden } = failed.event;
  const { hint, timeoutMs } = failed.check;
  return { name, command, how: howItFailed(failed.event, timeoutMs), output, failing, hint, hidden };
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

export function failureText({ name, command, how, output, hint, hidden }: Failure): string {
  if (hidden) return `### ${oneLine(command, TITLE_CHARS)}\n\n${hiddenFailure(command)}`;
  const said = output.trim() === "" ? "It printed nothing." : `Its output:\n\n${fenced(output.trimEnd())}`;
  const title = name === undefined ? command : `${name} (${command})`;
  const advice = hint ? `Hint: ${hint}\n\n` : "";
  return `### ${oneLine(title, TITLE_CHARS)}\n\n${advice}Failed: ${how}. ${said}`;
}

/** All that an agent learns of a hidden check. */
export function hiddenFailure(name: string): string {
  return `A hidden check failed: ${name}. ralph does not say what it checks: do what the task asks for, in all cases.`;
}

/** How it failed is worth more than the end of a long command. */
const COMMAND_CHARS = 40;

/** `npm test (exit code 1), npm run lint (timed out after 2m0s)` */
export function namesOf(failures: Failure[]): string {
  return failures
    .map(({ name, command, how }) => `${oneLine(name ?? command, COMMAND_CHARS)} (${how})`)
    .join(", ");
}

export function asJson(failures: Failure[]): Json {
  return failures.map(({ name, command, how, output, hint, hidden }) => ({
    ...{ command, how, output },
    ...(hidden && { hidden }),
    ...(name !== undefined && { name }),
    ...(hint !== undefined && { hint }),
  }));
}

/** What `asJson` wrote, as it is read from a journal. */
export function failuresIn(value: Json | undefined): Failure[] {
  const text = (given: unknown) => (typeof given === "string" ? given : undefined);
  return listOf<Failure>(value, { command: "string", how: "string", output: "string" }).map(
    ({ command, how, output, name, hint, hidden }) => ({
      ...{ command, how, output, name: text(name), hint: text(hint) },
      ...(hidden === true && { hidden }),
    }),
  );
}

/** The same word for failures of the same kind. */
export function likeness(failures: string[]): Promise<string> {
  return digest(failures.map(normalForm).join("\n"));
}

/** All that tells a failed check from another: other tests that fail are another failure, whatever else is said. */
export function likenessOf(
  failed: Pick<Failure, "command" | "output" | "failing"> & { why?: string },
): string {
  return [failed.command, failed.output, failed.failing ?? "", failed.why ?? ""].join("\n");
}
