import { type Captured, capture } from "../../process/capture.js";
import type { DoctorContext } from "./context.js";

export type ProgramAnswer =
  | { status: "answered"; text: string }
  /** `unclear`: it may only be slow. `failed`: it does not work. */
  | { status: "unclear" | "failed"; why: string };

const TIMEOUT_MS = 5000;
const LATE = `it did not answer within ${TIMEOUT_MS / 1000} s`;
/** Nothing is lost with a probe: it gets little time to end by itself. */
const GRACE_MS = 500;
const MAX_CHARS = 64 * 1024;
const MAX_LINE_CHARS = 200;

/** Runs a program without input and returns what it printed, or why it did not answer. */
export async function ask(context: DoctorContext, file: string, args: string[]): Promise<ProgramAnswer> {
  const { env, workspace: cwd, stop } = context;
  // In English: what git says is looked at.
  const command = { file, args, cwd, env: { ...env, LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" } };
  const result = await capture(command, { timeoutMs: TIMEOUT_MS, graceMs: GRACE_MS, stop });
  if (result.timedOut) return { status: "unclear", why: LATE };
  const said = (text: string): string => context.redact(text.slice(0, MAX_CHARS));
  if (!result.ok) return { status: "failed", why: failure(result, said(result.stderr)) };
  return { status: "answered", text: said(result.stdout.trim() === "" ? result.stderr : result.stdout) };
}

export type Version =
  | { status: "answered"; version: string }
  | Exclude<ProgramAnswer, { status: "answered" }>;

/** The first version number that a program prints about itself. */
export async function askVersion(context: DoctorContext, file: string, flag = "--version"): Promise<Version> {
  const answer = await ask(context, file, [flag]);
  if (answer.status !== "answered") return answer;
  const version = versionIn(answer.text);
  if (version === undefined) return { status: "unclear", why: "it prints no version" };
  return { status: "answered", version };
}

export function versionIn(text: string): string | undefined {
  const lines = text.split("\n").map((line) => line.slice(0, MAX_LINE_CHARS));
  return lines.map((line) => /\d+\.\d[\w.+-]*/.exec(line)?.[0]).find((found) => found !== undefined);
}

/** The same limit for what is no process: a dead network disk never answers. */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(LATE)), TIMEOUT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function failure({ spawnError, signal, exitCode }: Captured, stderr: string): string {
  if (spawnError !== undefined) return `it cannot be started: ${spawnError.message}`;
  const how = signal === null ? `exit ${exitCode}` : `ended by ${signal}`;
  const line = stderr.split("\n").find((text) => text.trim() !== "");
  return line === undefined ? how : `${line.trim().slice(0, MAX_LINE_CHARS)} (${how})`;
}
