/** Where a worker or a run stands, as everything that lists them shows it. */
export interface Glance {
  kind: "worker" | "run";
  /** The worker's name; a run has its id here. */
  name: string;
  /** null: the worker's record does not say. */
  run: string | null;
  recipe: string;
  status: GlanceStatus;
  /** Why it stopped, where it has. */
  reason: string | null;
  iteration: number;
  maxIterations: number;
  /** ISO 8601, UTC; null: not known. */
  startedAt: string | null;
  /** Time at work so far, pauses left out. */
  activeMs: number;
  costUsd: number | null;
  /** The last line that it printed, without colours. */
  lastLine: string;
  workspace: string;
  tags: string[];
}

/** `waiting`: for a usage limit to end. `crashed`: it should be running, and nobody is there. `unknown`: its state file cannot be read. */
export type GlanceStatus = "running" | "paused" | "waiting" | "stopped" | "failed" | "crashed" | "unknown";
