import type { LimitedAgent } from "../events.js";
import type { Control } from "./control.js";
import type { Engine, FleetJob } from "./engine.js";
import type { Lease } from "./lease.js";

/** What all claims of a worker share. */
export interface WorkerContext {
  engine: Engine;
  name: string;
  /** The folder of the mirrors and the claims. */
  home: string;
  /** Variables for the remotes, which no agent sees. */
  credentials: NodeJS.ProcessEnv;
  /** What its jobs may still cost, in USD. */
  allowance: { left: number };
  /** Usage limits that others have met, by the accounts. */
  limits: Map<string, LimitedAgent>;
  /** Tells the watchdog. */
  watch(claim: string, ms: number): Promise<unknown>;
  say(text: string): void;
}

/** A job at work. */
export interface Claim {
  id: string;
  /** Resolves when it is not this worker's any more. Never rejects. */
  done: Promise<void>;
  /** The accounts of its agents, as far as they are known. */
  accounts(): string[];
  control(wanted: Control): void;
  /** The iteration is finished, then the job goes back. */
  drain(): void;
  /** The job goes back now. */
  leave(): void;
}

/** A claim as the parts of its way know it. */
export interface ClaimState {
  context: WorkerContext;
  job: FleetJob;
  token: string;
  epoch: number;
  lease: Lease;
  stop: AbortController;
  kill: AbortController;
  wanted: Control;
  isDraining: boolean;
  accounts: Record<string, string>;
  /** Whether the loop shows life. */
  isAlive(): boolean;
  /** Called while the run is active, when people change what they want. */
  heed(): void;
}
