import type { Agent, AskOptions } from "../agents/agent.js";
import type { Hold } from "../ask/hold.js";
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
import { invalid, MOST_CONFIRMATIONS, saysSomething, wholeNumber } from "../settings/limits.js";
import type { Settings } from "../settings/schema.js";
import type { HiddenCheck } from "../verify/hidden.js";
import type { Speed } from "../verify/speed.js";
import type { GitSetting } from "../workspace/git-programs.js";

/** What a request and the spec of a run have in common. */
interface RunFacts extends Pick<SpecRecord, "limits" | "name" | "worker" | "issue"> {
  recipe: RecipeSpec;
  /** true: read the agent's steps as they happen; false: only its final answer. */
  stream: boolean;
  /** Run the checks before the first iteration. */
  baseline?: boolean | undefined;
  /** How often checks that all passed run again before the result counts. */
  confirm?: number | undefined;
  /** Fail a run in which no check went from red to green. */
  requireWitness?: boolean | undefined;
  /** Sign the receipt with the user's ssh key. */
  sign?: boolean | undefined;
  /** Leave alone what agents and checks leave running. */
  keepBackground?: boolean | undefined;
  /** The settings file that the user named. */
  config?: string | undefined;
  /** How an agent on a terminal gets the prompt. */
  promptVia?: "stdin" | "keys" | undefined;
  /** Open a pull request when it has succeeded. */
  pr?: boolean | undefined;
  /** The run whose pull request it works on. */
  follows?: string | undefined;
}

/** A request for a run, from a terminal, a program or another machine: plain data. */
export interface RunRequest extends RunFacts {
  /** The project. */
  origin: string;
  /** The agent: a choice to resolve, or a finished description that needs no check. */
  agent: AgentChoice | AgentSpec;
  /** Other agents of the recipe, by role. */
  agents?: Record<string, AgentChoice> | undefined;
  /** Fallbacks, where the settings do not decide. */
  nets?: Nets | undefined;
  /** Its name, or true: ralph chooses one. */
  worktree: string | boolean;
  /** What the run is about, for the name of its worktree. */
  title: string;
  /** The sandbox; default: what the settings or the recipe say. */
  sandbox?: SandboxChoice | undefined;
  /** Whether other loops may work in the same folder. */
  sharesWorkspace?: boolean | undefined;
  /** Commands of hidden checks, besides those of the settings. */
  hiddenChecks?: string[] | undefined;
  /** false: leave out the checks of the settings, hidden ones too. */
  projectChecks?: boolean | undefined;
  /** Time limit of the hidden checks of the command line. */
  checkTimeout?: string | undefined;
  /** The folder and worktree of another run, to work in. */
  within?: Pick<SpecRecord, "workspace" | "origin" | "worktree"> | undefined;
  /** Several loops at the same time, none of them in the folder itself. */
  lanes?: LanesSpec | undefined;
}

/** A request to resume a run; omitted fields stay as they were. */
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

/** The agents that take over when one is limited, down or stuck. */
export interface Nets {
  fallbackAgents?: string[] | undefined;
  escalateModel?: string | undefined;
}

/** Everything that starting and resuming a run takes. It holds no secrets. */
export interface RunSpec extends RunFacts, Omit<SpecRecord, keyof RunFacts> {
  /** Untracked files that ralph copied into its worktree, relative to its top folder. */
  copied?: string[] | undefined;
  /** Its id, if other loops may work in the same folder. */
  sharedBy?: string | undefined;
  /** The commit that was checked out at the start. */
  base?: string | undefined;
  agent: AgentSpec;
  agents?: Record<string, AgentSpec> | undefined;
  /** How to make checks quicker. */
  checks?: Speed | undefined;
  /** Patterns of files that agents may not change. */
  protect?: string[] | undefined;
  sandbox?: SandboxSpec | undefined;
  /** Several loops at the same time, each in a worktree of its own. */
  lanes?: LanesSpec | undefined;
}

/** `stories`: one lane for each story; `race`: the same task in each of them. */
export type LanesSpec =
  | { kind: "stories"; parallel: number; allowUnverified?: boolean | undefined }
  | { kind: "race"; parallel: number; all: boolean; lanes: { name: string; role: string }[] };

export interface AgentSpec extends Pick<AskOptions, "words" | "flags" | "permissions"> {
  name: string;
  model?: string | undefined;
  /** A function of a program: ralph cannot start it again. */
  isFunction?: boolean | undefined;
  /** The value of `--agent`, to find its variables in the settings again. */
  requested?: string | undefined;
}

/** Variables for agents only, by role. They come from the settings each time; ralph never writes them down. */
export type AgentVariables = Record<string, Record<string, string>>;

/** A run that can begin, or go on: everything that can be wrong was checked. */
export interface PreparedRun {
  spec: RunSpec;
  variables: AgentVariables;
  settings: Settings;
  /** Hidden checks with their commands, which ralph never writes down. */
  hidden?: HiddenCheck[] | undefined;
  key?: SigningKey | undefined;
  warnings: string[];
  /** Why `auto` found no sandbox. */
  unsheltered?: string | undefined;
  agent?: FunctionAgent | undefined;
  isContinued?: boolean;
}

/** What runs a loop: this terminal, a worker, a fleet machine. */
export interface Host {
  signals: Signals;
  /** Where the records are, if not in `$RALPH_HOME`. */
  home?: string | undefined;
  /** Variables for the agent and the checks. */
  env?: Record<string, string>;
  /** The current limits, where they can change while the run lasts. */
  limits?: Effects["limits"];
  /** Usage limits that other runs of the same accounts have reached. */
  limited?: Effects["limited"];
  /** Called on signs of life that no event reports. */
  alive?(): void;
  /** A terminal for commands that are no known agent, where there is one. */
  terminal?: Pick<TerminalSetup, "terminal" | "typePrompt"> | undefined;
  /** Called before the first event, with the folder of the records and a copy of the state for the view. */
  onStart?(folder: RunFolder, state: RunState): void;
}

/** A running run: what was prepared, its host, and what it got there. */
export interface RunContext extends PreparedRun {
  host: Host;
  folder: RunFolder;
  folderFor(iteration: number): string;
  redact: Redact;
  /** Environment of the agents and of the checks. */
  env: NodeJS.ProcessEnv;
  hookToken: string;
  /** When the call began that the end of an earlier process cut off, in milliseconds. */
  cutOff: number | undefined;
  /** What git is set to when it begins. */
  gitSettings: GitSetting[];
  /** For a loop in a lane: what the lane adds to its recipe, and the steering for it. */
  lane?:
    | {
        around(recipe: Recipe): Recipe;
        steering: Effects["steering"];
        hold: Hold;
        /** Called when no agent of any lane works any more. */
        atEnd(action: () => void): void;
      }
    | undefined;
}

/** Whether an agent gets the terminal of a window, where there is one. */
export function usesTerminal(agent: Agent["name"], promptVia: RunSpec["promptVia"]): boolean {
  return agent === "command" || promptVia === "keys";
}

/** Reads a spec to resume its run: secrets are put back where this environment has them. */
export function readSpec(folder: RunFolder): RunSpec {
  return folder.spec() as RunSpec;
}

/** The safety nets with a field of their own; limits are rows. */
export interface NetFlags extends Pick<RunRequest, "keepBackground"> {
  fallbackAgent?: string[];
  escalateModel?: string;
  /** true: any kind that works; false: none. */
  sandbox?: string | boolean;
  hiddenCheck?: string[];
  /** false: the machine may fall asleep. */
  inhibit?: boolean;
}

/** Flags of every command that starts a run, as commander hands them over. */
export interface RequestFlags
  extends NetFlags,
    Pick<RunRequest, "name" | "config" | "baseline" | "pr" | "requireWitness" | "sign">,
    Pick<RunRequest, "projectChecks" | "checkTimeout"> {
  agent?: string;
  model?: string | undefined;
  agentFlag?: string[];
  /** true: ralph chooses the name. */
  worktree?: string | boolean | undefined;
  confirm?: string;
}

/** What a recipe makes of its own flags. */
export interface RecipeStart extends Omit<RunRequest, "agent" | "nets" | "worktree" | "origin"> {
  /** The project, if it is not the folder that ralph was started in. */
  origin?: string;
  /** The agent that the recipe's own settings name. */
  agent?: string | undefined;
}

/** The request for a run that flags make. */
export function requestFrom(flags: RequestFlags, start: RecipeStart): RunRequest {
  const { origin = process.cwd(), agent, ...asked } = start;
  const { name, pr, baseline = pr, config, model, agentFlag: agentFlags = [], worktree = false } = flags;
  const chosen = { agent: flags.agent ?? agent, model, agentFlags };
  const own = { ...netsFrom(flags), ...proofFrom(flags) };
  return { ...asked, name, origin, agent: chosen, worktree, baseline, pr, config, ...own };
}

/** What a green result needs beyond the checks themselves. */
function proofFrom({ confirm, requireWitness, sign, projectChecks, checkTimeout }: RequestFlags) {
  return {
    ...{ requireWitness, sign, projectChecks, checkTimeout },
    confirm: confirm === undefined ? undefined : wholeNumber("--confirm", confirm, 0, MOST_CONFIRMATIONS),
  };
}

/** What a resumed run accepts, too. */
export function netsFrom(
  flags: NetFlags,
): Pick<RunRequest, "nets" | "sandbox" | "keepBackground" | "hiddenChecks"> {
  const { fallbackAgent, escalateModel: model, keepBackground, hiddenCheck: hiddenChecks } = flags;
  const fallbackAgents = fallbackAgent?.map((agent) => saysSomething("--fallback-agent", agent));
  const escalateModel = model === undefined ? undefined : saysSomething("--escalate-model", model);
  return {
    nets: { fallbackAgents, escalateModel },
    sandbox: sandboxFrom(flags),
    keepBackground,
    hiddenChecks,
  };
}

const SANDBOXES = ["auto", "docker", "srt", "none"] as const;

/** undefined where no flag was given. */
export function sandboxFrom({ sandbox }: NetFlags): SandboxChoice | undefined {
  if (sandbox === undefined) return undefined;
  if (typeof sandbox === "boolean") return sandbox ? "any" : "none";
  const kind = SANDBOXES.find((name) => name === sandbox);
  if (kind !== undefined) return kind;
  const more = sandbox === "sbx" ? "; docker is sbx where that is installed" : "";
  throw invalid("--sandbox", sandbox, `auto, docker, srt or none${more}`);
}
