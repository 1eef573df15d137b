import type { Agent } from "../agents/agent.js";
import type { Chunk } from "../process/output.js";
import { type Command, type Exit, type RunOptions, run } from "../process/run.js";

export type SandboxKind = "docker" | "srt" | "none";

export type DockerProgram = "docker" | "sbx";

/** What a run is shut into, and what it may do there. Part of the records of a run. */
export interface SandboxSpec {
  kind: SandboxKind;
  /** The program that `docker` stands for here. */
  program?: DockerProgram | undefined;
  /** Hosts beside those of the agent's provider. */
  allowHosts: string[];
  allowWrite: string[];
  denyRead: string[];
  denyWrite: string[];
  checks: boolean;
  /** How long files take to get from the inside to the outside. */
  settleMs: number;
}

/** The run that a sandbox is opened for. */
export interface SandboxScope {
  workspace: string;
  home: string;
  ralphHome: string;
  env: NodeJS.ProcessEnv;
  agents: Agent[];
  stop: AbortSignal;
}

/** A command that is to run inside. */
export interface SandboxCall {
  command: Command;
  /** The agent that is called; without it, the command is a check. */
  agent?: Agent["name"] | undefined;
  /** Ports of this machine that it has to reach. */
  ports?: number[] | undefined;
  /** Files outside of the workspace that it has to write. */
  writes?: string[] | undefined;
  /** It has a terminal, and ralph types its input. */
  isTyped?: boolean | undefined;
}

/** Turns commands into others that run inside. */
export interface Sandbox {
  /** Whether an agent inside can reach ports of this machine. */
  reachesLoop: boolean;
  /** Whether it has programs of its own, not those of this machine. */
  hasOwnPrograms: boolean;
  wrap(call: SandboxCall): Promise<Command>;
  /** The wrapped command has ended; returns how the command inside did. */
  ended(exit: Exit): Promise<Exit>;
  explain(error: string): string;
  /** The run was paused: files may have changed while nothing ran. */
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

/** Whether a sandbox can be used here. */
export type Availability =
  | { status: "works"; about: string; program?: DockerProgram }
  /** `packages`: what has to be installed, where that is all. */
  | { status: "missing" | "broken"; why: string; fix: string; packages?: string[] };

export interface SandboxType {
  find(options: FindOptions): Promise<Availability>;
  /** Throws where the settings ask for what cannot be had. */
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
