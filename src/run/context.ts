import type { FunctionAgent } from "../ask/run-function.js";
import type { TerminalSetup } from "../ask/run-on-terminal.js";
import type { Effects, Signals } from "../loop/effects.js";
import type { Redact } from "../records/redact.js";
import type { RunState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import type { SandboxChoice } from "../sandbox/choose.js";
import type { Settings } from "../settings/schema.js";
import type { AgentChoice, AgentVariables, Nets } from "./agent-spec.js";
import type { AgentSpec, RunSpec } from "./spec.js";

/** What is asked of a run and stays as it is in its spec. */
type Asked =
  | "recipe"
  | "limits"
  | "stream"
  | "baseline"
  | "keepBackground"
  | "config"
  | "promptVia"
  | "worker";

/** A run that is asked for, in a terminal, by a program or from afar: plain data. */
export interface RunRequest extends Pick<RunSpec, Asked> {
  /** The project. */
  origin: string;
  /** Which agent; a finished description for one that is no program. */
  agent: AgentChoice | AgentSpec;
  /** Others that the recipe asks, by their roles. */
  agents?: Record<string, AgentChoice> | undefined;
  /** Who takes over, where that is not left to the settings; `agent`: the one that was named beside them. */
  nets?: (Nets & Pick<AgentChoice, "agent">) | undefined;
  /** A name, or true for one that ralph chooses. */
  worktree: string | boolean;
  /** What the run is about, for the name of its worktree. */
  title: string;
  /** What the agents are to be shut into, unless the settings say. */
  sandbox?: SandboxChoice | undefined;
  /** Whether other loops may work in the same folder. */
  sharesWorkspace?: boolean | undefined;
}

/** A run that can begin, or go on: everything that could be wrong was looked at. */
export interface PreparedRun {
  spec: RunSpec;
  variables: AgentVariables;
  settings: Settings;
  /** What the user should know before it begins. */
  warnings: string[];
  /** Why there is no sandbox, where one was looked for. */
  unsheltered?: string | undefined;
  /** A function in place of a program. */
  agent?: FunctionAgent | undefined;
  /** It was begun before. */
  isContinued?: boolean;
}

/** Where a run is hosted. */
export interface Host {
  signals: Signals;
  /** Where the records are kept, if not in the user's home of ralph. */
  home?: string | undefined;
  /** Variables for the agent and the checks. */
  env?: Record<string, string>;
  /** Limits as they are now, where they can be changed meanwhile. */
  limits?: Effects["limits"];
  /** A terminal for commands that are no known agent, where there is one. */
  terminal?: Pick<TerminalSetup, "terminal" | "typePrompt"> | undefined;
  /** Called before the first event with where the records are, and a copy of the state for whoever shows the run. */
  onStart?(folder: RunFolder, state: RunState): void;
}

/** A run at work: what was prepared, where it is hosted, and what it was given there. */
export interface RunContext extends PreparedRun {
  host: Host;
  folder: RunFolder;
  /** Folder for the records of an iteration. */
  folderFor(iteration: number): string;
  redact: Redact;
  /** Environment of the agents and of the checks. */
  env: NodeJS.ProcessEnv;
  /** What the agent's hooks have to know to be answered. */
  hookToken: string;
  /** When a call of an earlier process began that was cut off, in milliseconds. */
  cutOff: number | undefined;
}
