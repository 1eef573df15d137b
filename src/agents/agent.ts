import type { AgentEvent } from "../events.js";
import type { AgentScreen } from "./screen.js";

/** How much the agent may do without asking: see `docs/reference/agents.md`. */
export type Permissions = "unattended" | "all" | "edits" | "ask";

export interface AskOptions {
  prompt: string;
  /** `stream`: every step as an event. `text`: the final answer alone. */
  mode: "stream" | "text";
  /** The program and what the user wrote after it. */
  words: string[];
  /** The user's flags, as words. They win over ours. */
  flags: string[];
  model: string | undefined;
  permissions: Permissions;
  /** What `probe` printed: the flags that this release has. */
  help: string;
  /** A folder for files that belong to this call. */
  scratch: string;
  inRepository: boolean;
  /** Where git keeps its records, for an agent that is asked to commit. */
  gitFolders?: string[] | undefined;
  /** What may still be spent, where the agent can hold itself to it. */
  maxCostUsd: number | undefined;
  /** Where the loop answers the agent's hooks. */
  hooks?: LoopHooks | undefined;
}

export interface AgentCommand {
  file: string;
  args: string[];
  env?: Record<string, string>;
  stdin?: string;
  /** Files that must be there before the start, by path. */
  files?: Record<string, string>;
  /** Where the final message is written, if not to stdout. */
  answerFile?: string;
}

export interface LoopHook {
  event: "Stop" | "PreToolUse" | "PostToolUse";
  /** Where it is answered over http. */
  url: string;
  /** What asks there, for agents whose hooks are commands. */
  command: string[];
  timeoutSeconds: number;
}

export interface LoopHooks {
  hooks: LoopHook[];
  /** Name of the variable with the word that proves who asks. */
  tokenVariable: string;
  /** That, and what else the agent's environment needs. */
  env: Record<string, string>;
  /** The settings that the user gave to the agent, and the file that takes both. */
  settings?: { content: Record<string, unknown>; file: string } | undefined;
}

/**
 * A folder that an agent writes to work at all: below `$variable`, or below `folder` in the home folder. Without
 * a variable, it is one of the project, where that has it.
 */
export interface StateFolder {
  variable?: string;
  folder: string;
  path: string;
  /** Nothing that the user has in it is needed. */
  beginsEmpty?: true;
  /** What in it says how the agent works, or is run by it. */
  obeys?: string[];
  /** Files in it that the agent renews for good: its login. */
  renews?: string[];
}

/** One coding agent: two pure functions and a few facts. Neither function may throw for what an agent says. */
export interface Agent {
  /** The name of its program, or `command`. */
  name: string;
  /** Arguments that make it print its flags, for agents whose flags differ between releases. */
  probe?: string[];
  /** What its stream tells about spending; a limit on anything else has nothing to measure. */
  reports: ("cost" | "tokens")[];
  takesModel: boolean;
  /** As root it does not start with its permissions skipped. */
  refusesRoot?: true;
  /** A flag for calls whose answer is used as a text, where the user did not give it. */
  textFlags?: string[];
  /** Variables that decide which account it bills, the strongest first. */
  credentials: string[];
  /** How to get it, how to sign in, and how to tell whether somebody has. */
  setup?: {
    install: string;
    signIn: string;
    /** Where a login is kept: below `$variable`, or below `folder` in the home folder. */
    loginFile: { variable: string; folder: string; path: string };
    /** Variables beside `credentials` that let it sign in. */
    otherVariables?: string[];
    /** On macOS the login is in the keychain. */
    usesKeychain?: true;
  };
  hooks?: {
    /** Whether this release has them, by what its probe printed. */
    areIn(help: string): boolean;
    /** Flag of the settings that hooks are part of, where the user may have given some. */
    settingsFlag?: string;
  };
  needs?: {
    /** Hosts of its provider, and variables that name another host. */
    hosts: string[];
    urlVariables: string[];
    /** Settings of its own that name others, from the folder that its login file is counted from. */
    settings?: { file: string; urls(text: string): string[] };
    /** Each run has its own of these, with what the user has in them. */
    state: StateFolder[];
    /** Docker offers a sandbox with this agent in it, by its name. */
    dockerTemplate?: true;
    /** Files of the project that it reads at its start, and where a folder would be an error. */
    reads?: string[];
  };
  screen?: AgentScreen;
  /** Arguments that begin a conversation with this message; undefined: the user has to type it. */
  firstMessage?(message: string): string[];
  command(options: AskOptions): AgentCommand;
  /** What one line of its stream says. Unknown lines become `unknown` events. */
  parse(line: string): AgentEvent[];
}
