import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../agents/agent.js";
import { orElse } from "../errors.js";
import type { Chunk } from "../process/output.js";
import { type Command, type Exit, type RunOptions, run } from "../process/run.js";
import { someOf } from "../workspace/git.js";

export type SandboxKind = "docker" | "srt" | "none";

export type DockerProgram = "docker" | "sbx";

/** The kind of sandbox of a run, and what it allows. Part of the run's records. */
export interface SandboxSpec {
  kind: SandboxKind;
  /** The program that provides `docker` here. */
  program?: DockerProgram | undefined;
  /** More hosts, besides those of the agent's provider. */
  allowHosts: string[];
  allowWrite: string[];
  denyRead: string[];
  denyWrite: string[];
  checks: boolean;
  /** How long the sandbox takes to write files outside. */
  settleMs: number;
}

/** The run that opens a sandbox. */
export interface SandboxScope {
  workspace: string;
  home: string;
  ralphHome: string;
  env: NodeJS.ProcessEnv;
  agents: Agent[];
  stop: AbortSignal;
}

/** A command to run inside. */
export interface SandboxCall {
  command: Command;
  /** The agent to call; without it, the command is a check. */
  agent?: Agent["name"] | undefined;
  /** Ports of this machine that it must reach. */
  ports?: number[] | undefined;
  /** Files outside the workspace that it must write. */
  writes?: string[] | undefined;
  /** It has a terminal, and ralph types its input. */
  isTyped?: boolean | undefined;
}

/** Turns commands into others that run inside. */
export interface Sandbox {
  /** Whether an agent inside can reach ports of this machine. */
  reachesLoop: boolean;
  /** Whether it has its own programs, instead of this machine's. */
  hasOwnPrograms: boolean;
  wrap(call: SandboxCall): Promise<Command>;
  /** The wrapped command has ended; returns the exit of the command inside. */
  ended(exit: Exit): Promise<Exit>;
  explain(error: string): string;
  /** The run was paused: files may have changed meanwhile. */
  wasPaused(): void;
  close(): Promise<void>;
}

export interface FindOptions {
  env: NodeJS.ProcessEnv;
  workspace: string;
  platform: NodeJS.Platform;
  timeoutMs: number;
  stop?: AbortSignal | undefined;
}

/** Whether a sandbox works here. */
export type Availability =
  | { status: "works"; about: string; program?: DockerProgram }
  /** `packages`: what to install, if nothing else is wrong. */
  | { status: "missing" | "broken"; why: string; fix: string; packages?: string[] };

export interface SandboxType {
  find(options: FindOptions): Promise<Availability>;
  /** Throws if the settings ask for something impossible. */
  check?(spec: SandboxSpec, scope: SandboxScope): Promise<void>;
  open(spec: SandboxSpec, scope: SandboxScope): Promise<Sandbox | undefined>;
  /** What it allows, in a few words. */
  allows(spec: SandboxSpec, hosts: string[], agents: Agent[]): string;
}

/** Runs a command inside, as `run` does outside. */
export async function* runInside(
  sandbox: Sandbox,
  call: SandboxCall,
  options: RunOptions,
): AsyncGenerator<Chunk, Exit> {
  const command = await sandbox.wrap(call);
  let exit: Exit = { exitCode: null, signal: "SIGTERM", durationMs: 0, timedOut: false };
  try {
    exit = yield* run(command, options);
  } finally {
    exit = await sandbox.ended(exit);
  }
  return exit;
}

/** The hosts that the agents need, and those that the user lists. */
export function hostsFor(agents: Agent[], env: NodeJS.ProcessEnv, listed: string[]): string[] {
  const hosts = agents.flatMap(({ needs }) => needs?.hosts ?? []);
  const named = agents.flatMap(({ needs }) => needs?.urlVariables ?? []).map((name) => env[name] ?? "");
  const urls = [...named, ...agents.flatMap((agent) => urlsInSettings(agent, env))];
  const more = urls.flatMap((url) => (URL.canParse(url) ? new URL(url).host : [])).filter(Boolean);
  return [...new Set([...hosts, ...more, ...listed])];
}

function urlsInSettings({ needs, setup }: Agent, env: NodeJS.ProcessEnv): string[] {
  if (needs?.settings === undefined || setup === undefined) return [];
  const { variable, folder } = setup.loginFile;
  const base = env[variable] || join(env["HOME"] || homedir(), folder);
  const { file, urls } = needs.settings;
  return orElse(() => urls(readFileSync(join(base, file), "utf8")), []);
}

export interface Network {
  /** In the form of the library, which also knows this machine by its address. */
  domains: string[];
  /** Ports of this machine that the sandbox offers under the same number. */
  ports: number[];
  /** The whole machine is reachable through the proxy, in place of the loopback inside. */
  reachesMachine: boolean;
}

const OWN = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d+))?$/i;

/** For hosts, with or without a port, and for further ports of this machine. */
export function networkOf(hosts: string[], needed: number[] = []): Network {
  const own = hosts.flatMap((host) => {
    const match = OWN.exec(host);
    return match === null ? [] : [match[1]];
  });
  const reachesMachine = own.includes(undefined);
  const ports = [...new Set([...needed, ...own.flatMap((port) => (port === undefined ? [] : Number(port)))])];
  const names = reachesMachine ? ["localhost", "127.0.0.1"] : ports.map((port) => `127.0.0.1:${port}`);
  return { domains: [...new Set([...hosts, ...names])], ports, reachesMachine };
}

/** An agent's error, with the hosts that the sandbox refused, and how to allow them. */
export function withRefusedHosts(error: string, refused: string[]): string {
  // Inside, nothing listens on an unlisted port of this machine.
  const isRefusal = /refused/i.test(error);
  const ports = isRefusal ? (error.match(/\b(?:127\.0\.0\.1|localhost):\d+/g) ?? []) : [];
  const hosts = [...new Set([...refused, ...ports])];
  if (hosts.length === 0) return error;
  return `${error} (the sandbox refused to let it reach ${someOf(hosts, 5)}: sandbox.network.allow in the settings adds hosts)`;
}
