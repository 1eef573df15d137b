/** A hook of the loop that calls the agent. */
export interface LoopHook {
  event: "Stop" | "PreToolUse" | "PostToolUse";
  /** Where it is answered over http. */
  url: string;
  /** What asks there, for agents whose hooks are commands. */
  command: string[];
  timeoutSeconds: number;
}

/** How the hooks of an agent reach the loop. */
export interface LoopHooks {
  hooks: LoopHook[];
  /** Name of the variable with the word that proves who asks. */
  tokenVariable: string;
  /** That, and what else the agent's environment needs. */
  env: Record<string, string>;
  /** What stands in the settings that the user gave to the agent, and the file that takes both. */
  settings?: { content: Record<string, unknown>; file: string } | undefined;
}

/** What an agent with hooks tells about them. */
export interface AgentHooks {
  /** Whether this release has them, by what its probe printed. */
  areIn(help: string): boolean;
  /** Flag of the settings that hooks are part of, where the user may have given some. */
  settingsFlag?: string;
}
