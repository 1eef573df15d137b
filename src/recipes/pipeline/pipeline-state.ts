/** When an agent works on a state: before its gate, when the gate has failed, or not at all. */
export type AgentTurn = "before" | "on-fail" | "never";

export const AGENT_TURNS: AgentTurn[] = ["on-fail", "before", "never"];

/** One state of a pipeline. Its gate has to pass before the next one begins. */
export interface PipelineState {
  name: string;
  goal: string;
  /** The gate. */
  command: string;
  /** What the gate exits with when it passes. */
  exitCode: number;
  /** What its output has to match, too. */
  output?: string | undefined;
  /** Its command is the test command of the project: tests have to pass. */
  runsTests?: boolean | undefined;
  /** Whose output does not tell how many tests ran: its exit code has to do. */
  unknownRunner?: boolean | undefined;
  onFail: string;
  /** The next state, or COMPLETE. */
  onPass: string;
  agent: AgentTurn;
  timeoutMs: number;
}

export const COMPLETE = "COMPLETE";
export const GUTTER = "GUTTER";

/** Names that are no states of their own. */
export const RESERVED = [COMPLETE, GUTTER, "INIT"];

/** What was there before the run, in the folder of its records. */
export const BEFORE_FILE = "before.json";
