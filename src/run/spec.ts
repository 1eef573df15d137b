import type { Agent, Permissions } from "../agents/agent.js";
import type { FunctionAgent } from "../ask/run-function.js";
import type { TerminalSetup } from "../ask/run-on-terminal.js";
import type { Effects, Signals } from "../loop/effects.js";
import type { Recipe } from "../loop/recipe.js";
import type { SigningKey } from "../receipts/signature.js";
import type { RecipeSpec } from "../recipes/registry.js";
import type { Redact } from "../records/redact.js";
import type { RunState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import type { SpecRecord } from "../records/spec.js";
import type { SandboxChoice } from "../sandbox/choose.js";
import type { SandboxSpec } from "../sandbox/sandbox.js";
import type { Settings } from "../settings/schema.js";
import type { HiddenCheck } from "../verify/hidden.js";
import type { Speed } from "../verify/speed.js";

/** What is asked of a run and stays as it is in its spec. */
interface Asked {
  recipe: RecipeSpec;
  limits: SpecRecord["limits"];
  /** Whether the agent's steps are read as they happen, or its final answer alone. */
  stream: boolean;
  /** Whether the checks are run before the first iteration. */
  baseline?: boolean | undefined;
  /** How often checks that all passed are run again before that counts. */
  confirm?: number | undefined;
  /** Whether a run fails in which no check went from red to green. */
  requireWitness?: boolean | undefined;
  /** Whether the receipt is signed with the user's ssh key. */
  sign?: boolean | undefined;
  /** What agents and checks leave running is left alone. */
  keepBackground?: boolean | undefined;
  /** Settings file that was named by the user. */
  config?: string | undefined;
  /** How its agent gets the prompt, where it has a terminal. */
  promptVia?: "stdin" | "keys" | undefined;
  /** What people call it; ralph finds two words where nobody says. */
  name?: string | undefined;
  /** The worker that it is the loop of. */
  worker?: string | undefined;
  /** The issue that it came from. */
  issue?: SpecRecord["issue"];
  /** A pull request is opened when it has succeeded. */
  pr?: boolean | undefined;
  /** The run whose pull request it works on. */
  follows?: string | undefined;
}

/** A run that is asked for, in a terminal, by a program or from afar: plain data. */
export interface RunRequest extends Asked {
  /** The project. */
  origin: string;
  /** Which agent; a finished description for one that needs no check. */
  agent: AgentChoice | AgentSpec;
  /** Others that the recipe asks, by their roles. */
  agents?: Record<string, AgentChoice> | undefined;
  /** Who takes over, where that is not left to the settings. */
  nets?: Nets | undefined;
  /** A name, or true for one that ralph chooses. */
  worktree: string | boolean;
  /** What the run is about, for the name of its worktree. */
  title: string;
  /** What the agents are to be shut into, unless the settings or the recipe say. */
  sandbox?: SandboxChoice | undefined;
  /** Whether other loops may work in the same folder. */
  sharesWorkspace?: boolean | undefined;
  /** Commands of hidden checks, beside those of the settings. */
  hiddenChecks?: string[] | undefined;
  /** false: the checks of the settings are left out, the hidden ones, too. */
  projectChecks?: boolean | undefined;
  /** For hidden checks of the command line. */
  checkTimeout?: string | undefined;
  /** Where another run has worked: it works there, too. */
  within?: Pick<SpecRecord, "workspace" | "origin" | "worktree"> | undefined;
  /** Several loops at the same time; none of them works in the folder itself. */
  lanes?: LanesSpec | undefined;
}

/** What is asked of a run that goes on; what is left out stays as it was. */
export interface ResumeRequest
  extends Pick<RunRequest, "limits" | "sandbox" | "nets" | "keepBackground" | "hiddenChecks"> {
  recipe?: RecipeSpec | undefined;
}

export interface AgentChoice {
  /** `--agent`: a known agent, a profile, or a command line. */
  agent?: string | undefined;
  model?: string | undefined;
  agentFlags: string[];
}

/** Who takes over when an agent is limited, down or stuck. */
export interface Nets {
  fallbackAgents?: string[] | undefined;
  escalateModel?: string | undefined;
}

/** Everything that a run needs to be started, and to be started again. Secrets are not part of it. */
export interface RunSpec extends Asked, Omit<SpecRecord, keyof Asked> {
  /** Untracked files that were copied into its worktree, from its top folder on. */
  copied?: string[] | undefined;
  /** Its own id, if other loops may work in the same folder. */
  sharedBy?: string | undefined;
  /** The commit that was checked out at the start. */
  base?: string | undefined;
  agent: AgentSpec;
  /** Others that are asked, by their roles. */
  agents?: Record<string, AgentSpec> | undefined;
  /** How checks are made quicker. */
  checks?: Speed | undefined;
  /** Patterns of files that agents may not change. */
  protect?: string[] | undefined;
  /** What the agents are shut into. */
  sandbox?: SandboxSpec | undefined;
  /** Its hidden checks: what they are called, and by what their commands are known again. */
  hidden?: { name: string; sha256: string }[] | undefined;
  /** Several loops at the same time, each in a worktree of its own. */
  lanes?: LanesSpec | undefined;
}

/** `stories`: one lane for each story; `race`: the same task in each of them. */
export type LanesSpec =
  | { kind: "stories"; parallel: number; allowUnverified?: boolean | undefined }
  | { kind: "race"; parallel: number; all: boolean; lanes: { name: string; role: string }[] };

export interface AgentSpec {
  /** What the user calls it. */
  name: string;
  words: string[];
  flags: string[];
  model?: string | undefined;
  permissions: Permissions;
  /** It is a function of a program: there is nothing to start again. */
  isFunction?: boolean | undefined;
  /** What `--agent` said, to find its variables in the settings again. */
  requested?: string | undefined;
}

/** Variables for agents alone, by their roles. They come from the settings each time and are never written down. */
export type AgentVariables = Record<string, Record<string, string>>;

/** A run that can begin, or go on: everything that could be wrong was looked at. */
export interface PreparedRun {
  spec: RunSpec;
  variables: AgentVariables;
  settings: Settings;
  /** Hidden checks, with what is written down nowhere. */
  hidden?: HiddenCheck[] | undefined;
  /** What its receipt is signed with. */
  key?: SigningKey | undefined;
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
  /** Usage limits that other runs of the same accounts have met. */
  limited?: Effects["limited"];
  /** The agent at work shows life that no event tells. */
  alive?(): void;
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
  /** Of a loop in a lane: what the lane adds to its recipe, and what a person has said to the run. */
  lane?: { around(recipe: Recipe): Recipe; steering: Effects["steering"] } | undefined;
}

/** Whether an agent gets the terminal of a window, where there is one. */
export function usesTerminal(agent: Agent["name"], promptVia: RunSpec["promptVia"]): boolean {
  return agent === "command" || promptVia === "keys";
}

/** As it is needed to go on: secrets are put back where this environment has them. */
export function readSpec(folder: RunFolder): RunSpec {
  return folder.spec() as RunSpec;
}
