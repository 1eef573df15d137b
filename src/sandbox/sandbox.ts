import type { Agent } from "../agents/agent.js";
import type { Command, Exit } from "../process/run.js";

export type SandboxKind = "docker" | "srt" | "none";

/** What a run is shut into, and what it may do there. Part of what is written down of a run. */
export interface SandboxSpec {
  kind: SandboxKind;
  /** The program that `docker` stands for here. */
  program?: DockerProgram | undefined;
  /** Hosts beside those of the agent's provider. */
  allowHosts: string[];
  allowWrite: string[];
  denyRead: string[];
  denyWrite: string[];
  /** Whether checks run inside, too. */
  checks: boolean;
  /** How long files take to get from the inside to the outside. */
  settleMs: number;
}

export type DockerProgram = "docker" | "sbx";

/** Where a sandbox is opened, and for whom. */
export interface SandboxPlace {
  workspace: string;
  /** The user's home folder. */
  home: string;
  /** Where ralph keeps its records. */
  ralphHome: string;
  env: NodeJS.ProcessEnv;
  agents: Agent[];
  stop: AbortSignal;
}

/** A command that is to run inside. */
export interface Call {
  command: Command;
  /** Whose command it is; without it, a check. */
  agent?: Agent["name"] | undefined;
  /** Ports of this machine that it has to reach. */
  ports?: number[] | undefined;
  /** Files outside of the workspace that it has to write. */
  writes?: string[] | undefined;
  /** It has a terminal, and is typed to. */
  isTyped?: boolean | undefined;
}

/** Turns commands into others that run inside. */
export interface Sandbox {
  /** Whether an agent inside can reach ports of this machine. */
  reachesLoop: boolean;
  /** Whether its programs are those of this machine. */
  hasOwnPrograms: boolean;
  wrap(call: Call): Promise<Command>;
  /** The wrapped command has ended; returns how the command inside did. */
  ended(exit: Exit): Promise<Exit>;
  /** In plain words, what an agent's complaint means here. */
  explain(error: string): string;
  /** Somebody may have changed files while nothing ran. */
  wasPaused(): void;
  close(): Promise<void>;
}

/** Where somebody looks for sandboxes. */
export interface Look {
  env: NodeJS.ProcessEnv;
  workspace: string;
  platform: NodeJS.Platform;
  timeoutMs: number;
  stop?: AbortSignal | undefined;
}

/** Whether a sandbox can be used here. */
export type Found =
  | { status: "works"; about: string; program?: DockerProgram }
  /** `packages`: what has to be installed, where that is all. */
  | { status: "missing" | "broken"; why: string; fix: string; packages?: string[] };

/** One kind of sandbox. */
export interface SandboxType {
  find(look: Look): Promise<Found>;
  /** It will be opened, most likely: what takes long can begin. */
  getReady?(workspace: string): void;
  /** Throws where the settings ask for what cannot be had. */
  check?(spec: SandboxSpec, place: SandboxPlace): Promise<void>;
  open(spec: SandboxSpec, place: SandboxPlace): Promise<Sandbox | undefined>;
  /** What it allows, in a few words. */
  allows(spec: SandboxSpec, hosts: string[], agents: Agent[]): string;
}
