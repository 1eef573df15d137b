import type { AgentEvent } from "../events.js";

/** How much the agent may do without asking: see `docs/reference/agents.md`. */
export type Permissions = "unattended" | "all" | "edits" | "ask";

export interface AskOptions {
  prompt: string;
  /** `stream`: every step as an event. `text`: the final answer alone. */
  mode: "stream" | "text";
  /** The program, and the user's words after it. */
  words: string[];
  /** The user's flags, as words. They win over ours. */
  flags: string[];
  model: string | undefined;
  permissions: Permissions;
  /** The output of `probe`: the flags of this release. */
  help: string;
  /** A folder for files that belong to this call. */
  scratch: string;
  inRepository: boolean;
  /** The folders of git's records, for an agent that commits. */
  gitFolders?: string[] | undefined;
  /** The money left, for an agent that can limit itself. */
  maxCostUsd: number | undefined;
  /** The server where the loop answers the agent's hooks. */
  hooks?: LoopHooks | undefined;
}

export interface AgentCommand {
  file: string;
  args: string[];
  env?: Record<string, string>;
  stdin?: string;
  /** Files to write before the start, by path. */
  files?: Record<string, string>;
  /** The file that gets the final message, if stdout does not. */
  answerFile?: string;
}

export interface LoopHook {
  event: "Stop" | "PreToolUse" | "PostToolUse";
  /** The address of the hook server. */
  url: string;
  /** The command that calls the server, for agents whose hooks are commands. */
  command: string[];
  timeoutSeconds: number;
}

export interface LoopHooks {
  hooks: LoopHook[];
  /** The variable with the token that proves who calls. */
  tokenVariable: string;
  /** That variable, and whatever else the agent's environment needs. */
  env: Record<string, string>;
  /** The user's settings for the agent, and the file that gets both. */
  settings?: { content: Record<string, unknown>; file: string } | undefined;
}

/** Where an agent writes: below `$variable`, or `folder` at home; without a variable, also in the project. */
export interface StateFolder {
  variable?: string;
  folder: string;
  path: string;
  /** The agent needs nothing that the user has in it. */
  beginsEmpty?: true;
  /** Files in it that direct the agent, or that the agent runs. */
  obeys?: string[];
  /** Files in it that the agent renews permanently: its login. */
  renews?: string[];
}

/** One coding agent: two pure functions and some facts. Neither may throw, whatever the agent prints. */
export interface Agent {
  /** The name of its program, or `command`. */
  name: string;
  /** Arguments that print its flags, for agents whose flags differ between releases. */
  probe?: string[];
  /** What its stream reports of spending; a limit on anything else measures nothing. */
  reports: ("cost" | "tokens")[];
  takesModel: boolean;
  /** It refuses to skip permissions as root. */
  refusesRoot?: true;
  /** A flag for calls whose answer is a plain text, unless the user gave it. */
  textFlags?: string[];
  /** Variables that decide which account pays, the strongest first. */
  credentials: string[];
  /** How to install it, how to sign in, and how to see whether somebody has. */
  setup?: {
    install: string;
    signIn: string;
    /** The file with the login: below `$variable`, or below `folder` in the home folder. */
    loginFile: { variable: string; folder: string; path: string };
    /** Other variables than `credentials` that sign it in. */
    otherVariables?: string[];
    /** On macOS the login is in the keychain. */
    usesKeychain?: true;
  };
  hooks?: {
    /** Whether this release has hooks, according to the output of `probe`. */
    areIn(help: string): boolean;
    /** The flag for the settings that contain hooks, in case the user gave some. */
    settingsFlag?: string;
  };
  needs?: {
    /** Hosts of its provider, and variables that name another host. */
    hosts: string[];
    urlVariables: string[];
    /** Its own settings that name further hosts, relative to the folder of its login file. */
    settings?: { file: string; urls(text: string): string[] };
    /** Each run gets its own copies of these, with the user's content. */
    state: StateFolder[];
    /** Docker offers a sandbox for this agent under this name. */
    dockerTemplate?: true;
    /** Files of the project that it reads at start, where a folder would be an error. */
    reads?: string[];
  };
  screen?: AgentScreen;
  /** Arguments that start a conversation with this message; undefined: the user has to type it. */
  firstMessage?(message: string): string[];
  command(options: AskOptions): AgentCommand;
  /** The events in one line of its stream. Unknown lines become `unknown` events. */
  parse(line: string): AgentEvent[];
}

/** `isBusy`: a known program is working. `blocked`: it asks something that only a person can answer. */
export type Readiness =
  | { state: "ready" }
  | { state: "waiting"; isBusy?: true }
  | { state: "blocked"; why: string };

/** What an agent shows on a terminal. All functions get the lines of the screen that are not blank. */
export interface AgentScreen {
  /** The state of its input; undefined: this is another program's screen. */
  input(lines: string[]): Readiness | undefined;
  /** Questions that it asks before it works, and what the user must do about them. */
  dialogs: [looks: RegExp, why: string][];
  /** Questions on the line with the cursor. */
  questions?: [looks: RegExp, why: string][];
  /** A line about a usage limit, from a place where neither its model nor a tool can write. */
  ownLine?(lines: string[]): string | undefined;
}

/** Questions that disappear after the user has run the program once. `how` comes before "once by hand". */
export function asksOnce(
  title: string,
  program: string,
  rows: [looks: RegExp, what: string, how?: string][],
): [looks: RegExp, why: string][] {
  return rows.map(([looks, what, how]) => [
    looks,
    `${title} ${what}: run ${program}${how === undefined ? "" : ` ${how}`} once by hand`,
  ]);
}

/** How many lines above the input may show what the agent does. */
const NEAR = 8;

/** The state of the input at this line: a line near it may show that the agent works. */
export function inputAt(lines: string[], at: number, busy: RegExp): Readiness {
  const isBusy = lines.slice(Math.max(0, at - NEAR), at).some((line) => busy.test(line));
  return isBusy ? { state: "waiting", isBusy } : { state: "ready" };
}

/** Agents indent what they write below their input; another program's output starts in the first column. */
export function isIndented(lines: string[]): boolean {
  return lines.length <= 6 && lines.every((line) => /^[\s╰]/.test(line));
}

/** A line, with the lines that continue it. */
export function withMore([first = "", ...rest]: string[], goesOn: RegExp): string {
  const end = rest.findIndex((line) => !goesOn.test(line));
  return [first, ...(end < 0 ? rest : rest.slice(0, end))].map((line) => line.trim()).join(" ");
}

export function isGiven(userFlags: string[], names: string[]): boolean {
  return userFlags.some((flag) => names.some((name) => flag === name || flag.startsWith(`${name}=`)));
}

/** The value that the user gave one of these flags: `--flag value` or `--flag=value`. The last one counts. */
export function givenValue(userFlags: string[], names: string[]): string | undefined {
  const last = userFlags.findLastIndex((flag) => isGiven([flag], names));
  const [flag = "", next] = last < 0 ? [] : userFlags.slice(last);
  return names.includes(flag) ? next : flag.split(/=(.*)/s)[1];
}

export function withoutFlag(flags: string[], names: string[]): string[] {
  return flags.filter((flag, index) => {
    const isValue = names.includes(flags[index - 1] ?? "");
    return !isValue && !isGiven([flag], names);
  });
}

export const MODEL_FLAGS = ["--model", "-m"];

/** The parts of a command. The user's words may begin with the `subcommand` that ralph uses. */
export function partsOf(
  options: Pick<AskOptions, "words" | "flags" | "model"> & Partial<Pick<AskOptions, "permissions">>,
  subcommand = /^$/,
) {
  const { words, flags, model, permissions } = options;
  const [file = "", ...extra] = words;
  const own = [...(subcommand.test(extra[0] ?? "") ? extra.slice(1) : extra), ...flags];
  /** Our flag with its value, unless the user gave it or one of `others`: the user's flag wins. */
  const ours = (flag: string[], ...others: string[]): string[] =>
    isGiven(own, [...flag.slice(0, 1), ...others]) ? [] : flag;
  return {
    file,
    own,
    ours,
    modelFlag: model === undefined ? [] : ours(["--model", model], ...MODEL_FLAGS),
    isUnattended: permissions === "unattended" || permissions === "all",
  };
}
