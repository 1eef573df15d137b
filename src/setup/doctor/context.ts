import { homedir } from "node:os";
import { RalphError } from "../../errors.js";
import { manifest } from "../../package-folder.cjs";
import { capture } from "../../process/run.js";
import { which } from "../../process/which.js";
import { ralphHome } from "../../records/home.js";
import { createRedactor, type Redact } from "../../records/redact.js";
import { type LoadedSettings, loadSettings } from "../../settings/load.js";
import type { Settings } from "../../settings/schema.js";

export interface DoctorContext {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  uid: number | undefined;
  home: string;
  workspace: string;
  records: string;
  /** Or why they cannot be used. */
  settings: LoadedSettings | RalphError;
  /** The agent that `ralph run` would start, or that of a profile, with its variables. Throws the error of a run. */
  choose(
    profile: string | undefined,
    settings: Settings,
    context: Pick<DoctorContext, "workspace" | "env">,
  ): Promise<{ program: string; env: Record<string, string> }>;
  /** The error of a run that would start Claude Code as root. */
  asRoot: RalphError;
  node: { version: string; path: string; needed: string };
  stop: AbortSignal;
  /** Whether issues can be taken and pull requests opened from here; nothing where the project is on no forge. */
  forge?(checkout: string, stop: AbortSignal): Promise<DoctorFinding[]>;
  redact: Redact;
}

export async function currentContext(
  stop: AbortSignal,
  agents: Pick<DoctorContext, "choose" | "asRoot" | "forge">,
): Promise<DoctorContext> {
  const workspace = process.cwd();
  return {
    env: process.env,
    platform: process.platform,
    uid: process.getuid?.(),
    home: homedir(),
    workspace,
    records: ralphHome(),
    settings: await loadSettings(workspace).catch(asRefusal),
    ...agents,
    node: { version: process.versions.node, path: process.execPath, needed: manifest().engines.node },
    stop,
    redact: createRedactor(process.env),
  };
}

export type FindingStatus = "ok" | "warning" | "problem";

export interface DoctorFinding {
  name: string;
  status: FindingStatus;
  message: string;
  /** What to do about it, a command to type where there is one. */
  fix?: string;
  /** false: it is not there, and need not be. */
  installed?: boolean;
  version?: string;
  path?: string;
  auth?: Auth;
  files?: string[];
  freeBytes?: number;
}

/** Signs of how an agent signs in: names and paths only, no secret is read. */
export interface Auth {
  /** Variables that are set, the strongest first. */
  variables: string[];
  loginFile?: string;
  /** The login may be in the system's keychain, which ralph does not read. */
  keychain?: true;
}

/** What ralph itself refuses is a finding in its own words; anything else is thrown. */
export function asRefusal(error: unknown): RalphError {
  if (error instanceof RalphError) return error;
  throw error;
}

export function refused(name: string, status: FindingStatus, { message, hint }: RalphError): DoctorFinding {
  return { name, status, message, ...(hint !== undefined && { fix: hint }) };
}

/** undefined: not installed. */
export function programPath({ workspace, env }: DoctorContext, name: string): string | undefined {
  const found = which(name, workspace, env["PATH"]);
  return found.status === "found" ? found.path : undefined;
}

const MANAGERS = ["apt-get install", "dnf install", "pacman -S", "zypper install", "apk add"];

export function installCommand(context: DoctorContext, name: string): string {
  if (context.platform === "darwin") return `brew install ${name}`;
  const manager = MANAGERS.find((command) => programPath(context, command.split(" ", 1)[0] ?? ""));
  return manager === undefined ? `install ${name}` : asAdmin(context, `${manager} ${name}`);
}

export function asAdmin({ uid }: DoctorContext, command: string): string {
  return uid === 0 ? command : `sudo ${command}`;
}

export type ProgramAnswer =
  | { status: "answered"; text: string }
  /** `unclear`: it may only be slow. `failed`: it does not work. */
  | { status: "unclear" | "failed"; why: string };

export const TIMEOUT_MS = 5000;
/** Nothing is lost with a probe: it gets little time to end by itself. */
const GRACE_MS = 500;
const MAX_CHARS = 64 * 1024;
const MAX_LINE_CHARS = 200;

/** Runs a program without input and returns its output, or why it did not answer. */
export async function ask(context: DoctorContext, file: string, args: string[]): Promise<ProgramAnswer> {
  const { env, workspace: cwd, stop } = context;
  // In English: ralph parses git's messages.
  const command = { file, args, cwd, env: { ...env, LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" } };
  const result = await capture(command, { timeoutMs: TIMEOUT_MS, graceMs: GRACE_MS, stop });
  if (result.timedOut) return { status: "unclear", why: `it did not answer within ${TIMEOUT_MS / 1000} s` };
  const said = (text: string): string => context.redact(text.slice(0, MAX_CHARS));
  if (result.ok)
    return { status: "answered", text: said(result.stdout.trim() === "" ? result.stderr : result.stdout) };
  const { spawnError, signal, exitCode } = result;
  if (spawnError !== undefined)
    return { status: "failed", why: `it cannot be started: ${spawnError.message}` };
  const how = signal === null ? `exit ${exitCode}` : `ended by ${signal}`;
  const lines = said(result.stderr).split("\n");
  const line = lines.find((text) => text.trim() !== "");
  return {
    status: "failed",
    why: line === undefined ? how : `${line.trim().slice(0, MAX_LINE_CHARS)} (${how})`,
  };
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
