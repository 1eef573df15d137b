import type { FunctionAgent } from "../ask/run-function.js";
import type { TerminalSetup } from "../ask/run-on-terminal.js";
import type { Effects, Signals } from "../loop/effects.js";
import type { Redact } from "../records/redact.js";
import type { RunFolder } from "../records/runs.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { CheckSetup } from "../verify/check.js";

/** What a run finds where it is hosted. */
export interface RunContext {
  folder: RunFolder;
  signals: Signals;
  /** When a call of an earlier process began that was cut off, in milliseconds. */
  cutOff: number | undefined;
  redact: Redact;
  /** Environment of the agent and of the checks. */
  env: NodeJS.ProcessEnv;
  /** Variables for the agent alone. */
  agentEnv: Record<string, string>;
  /** The same for the other agents of the run, by their roles. */
  otherEnv?: Record<string, Record<string, string>> | undefined;
  /** A function in place of a program. */
  agent?: FunctionAgent | undefined;
  /** Limits as they are now, where they can be changed meanwhile. */
  limits?: Effects["limits"];
  /** A terminal for commands that are no known agent, where there is one. */
  terminal?: Pick<TerminalSetup, "terminal" | "typePrompt"> | undefined;
  /** What the agent's hooks have to know to be answered. */
  hookToken: string;
  /** What a check leaves running is left alone. */
  keepBackground?: boolean | undefined;
  /** Where checks run, if they are shut in. */
  sandbox?: Sandbox | undefined;
  /** Asked after each check: why it does not count. */
  spoiled?: CheckSetup["spoiled"];
  /** Where agents work, if they are shut in. */
  agentSandbox?: Sandbox | undefined;
}
