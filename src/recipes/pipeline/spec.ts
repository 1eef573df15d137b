import { RUNTIME_FOLDER } from "../../workspace/runtime.js";

/** When an agent works on a state: when its gate has failed, before it, or not at all. */
export const AGENT_TURNS = ["on-fail", "before", "never"] as const;

/** One state of a pipeline. Its gate has to pass before the next one begins. */
export interface PipelineState {
  name: string;
  goal: string;
  command: string;
  exitCode: number;
  /** What its output has to match, too. */
  output?: string | undefined;
  /** Its command is the test command of the project: tests have to pass. */
  runsTests?: boolean | undefined;
  /** Whose output does not tell how many tests ran: its exit code has to do. */
  unknownRunner?: boolean | undefined;
  onFail: string;
  onPass: string;
  agent: (typeof AGENT_TURNS)[number];
  timeoutMs: number;
}

export const COMPLETE = "COMPLETE";
export const GUTTER = "GUTTER";

/** Names that are no states of their own. */
export const RESERVED = [COMPLETE, GUTTER, "INIT"];

/** What was there before the run, in the folder of its records. */
export const BEFORE_FILE = "before.json";

/** The first is what ralph writes. */
export const PIPELINE_FILES = [`${RUNTIME_FOLDER}/pipeline.yaml`, `${RUNTIME_FOLDER}/pipeline.yml`] as const;

export interface PipelineSpec {
  kind: "pipeline";
  /** From the workspace on. */
  specFile: string;
  prpFile: string;
  testCommand?: string | undefined;
  /** For gates without a time limit of their own; 10 minutes unless given. */
  checkTimeoutMs?: number | undefined;
  maxGateRetries: number;
  /** In the order in which they are passed. What an agent makes of the file meanwhile does not count. */
  states: PipelineState[];
  /** What was not committed when the run began. */
  dirty: string[];
}
