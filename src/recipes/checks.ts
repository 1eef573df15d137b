import { parseDuration } from "../duration.js";
import { CHECK_TIMEOUT_MS, duration, invalid, saysSomething } from "../settings/limits.js";
import type { Settings } from "../settings/schema.js";

/** A check as a run keeps it: of the project's settings, or of the command line. */
export interface TaskCheck extends Omit<Settings["checks"][number], "timeout"> {
  timeoutMs: number;
}

export interface CheckFlags {
  check?: string[];
  /** false: `--no-project-checks`. */
  projectChecks?: boolean | undefined;
  checkTimeout?: string | undefined;
}

/** The project's checks, unless they are left out, and those that the command line adds. */
export function checksFrom(flags: CheckFlags, settings: Pick<Settings, "checks">): TaskCheck[] {
  return withChecks(projectChecks(flags, settings), givenChecks(flags));
}

/** No command is run twice because it is given in two places. */
export function withChecks(checks: TaskCheck[], more: TaskCheck[]): TaskCheck[] {
  const isNew = ({ command }: TaskCheck) => !checks.some((one) => one.command === command);
  return [...checks, ...more.filter(isNew)];
}

export function projectChecks(flags: CheckFlags, { checks }: Pick<Settings, "checks">): TaskCheck[] {
  if (flags.projectChecks === false) return [];
  const usual = checkTimeoutFrom(flags);
  return checks.map(({ timeout = "", ...check }) => ({
    ...check,
    timeoutMs: parseDuration(timeout) ?? usual,
  }));
}

export function givenChecks(flags: CheckFlags): TaskCheck[] {
  const commands = flags.check ?? [];
  for (const command of commands) {
    saysSomething("--check", command);
    // A comment exits 0 and checks nothing.
    const isComment = command.split("\n").every((line) => /^\s*(#|$)/.test(line));
    if (isComment) throw invalid("--check", command, "a command, and this is a comment");
  }
  return asChecks(commands, checkTimeoutFrom(flags));
}

export function asChecks(commands: string[], timeoutMs: number): TaskCheck[] {
  return commands.map((command) => ({ command, failAction: "APPEND", timeoutMs }));
}

/** For checks without a time limit of their own. */
export function checkTimeoutFrom({ checkTimeout }: CheckFlags): number {
  return checkTimeout === undefined ? CHECK_TIMEOUT_MS : duration("--check-timeout", checkTimeout);
}

export function checkList(checks: TaskCheck[]): string {
  const lines = checks.map(({ name, command }) => (name === undefined ? command : `${name}: ${command}`));
  return lines.map((line) => `- ${line.trim().replaceAll("\n", "\n  ")}`).join("\n");
}
