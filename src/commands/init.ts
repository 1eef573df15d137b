import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { AGENT_NAMES } from "../agents/index.js";
import { RalphError } from "../errors.js";
import { which } from "../process/which.js";
import { writeAtomic } from "../records/files.js";
import { createRedactor } from "../records/redact.js";
import { BASE_FILE, LOCAL_FILE, type LoadedSettings, loadSettings } from "../settings/load.js";
import {
  Aborted,
  type Ask,
  askSettings,
  defaultSettings,
  isYes,
  type NewSettings,
  type Suggestions,
  withTerminal,
} from "../setup/init.js";
import { exitCodeOf } from "../stop-reasons.js";
import { splitWords } from "../words.js";
import { projectCommands } from "../workspace/project.js";
import { prepareRuntimeFolder, requireOwnFolder } from "../workspace/runtime.js";
import { withoutSecrets } from "./config.js";
import { writeTemplate } from "./template.js";

export interface InitFlags {
  yes?: boolean;
  agent?: string;
  prompt?: boolean;
  force?: boolean;
}

/** `ralph init`: makes the settings of this project, or a first PROMPT.md. */
export async function init(flags: InitFlags): Promise<number> {
  refuseUseless(flags);
  if (flags.prompt) return writeTemplate("PROMPT.md", flags.force ?? false);
  const workspace = process.cwd();
  return flags.yes ? initWithout(workspace, flags) : initOnTerminal(workspace);
}

function refuseUseless({ yes, agent, prompt, force }: InitFlags): void {
  const useless = [
    ...(prompt && yes ? ["--prompt and --yes exclude each other"] : []),
    ...(force && !prompt && !yes ? ["--force goes with --prompt or --yes"] : []),
    ...(agent !== undefined && !yes ? ["--agent goes with --yes"] : []),
  ];
  if (useless[0] === undefined) return;
  throw new RalphError(useless[0], {
    code: "flag_useless",
    hint: "without flags, ralph init asks for everything",
  });
}

async function initOnTerminal(workspace: string): Promise<number> {
  if (!process.stdin.isTTY) {
    throw new RalphError("ralph init asks questions and needs a terminal", {
      code: "no_terminal",
      hint: "ralph init --yes writes the defaults without asking",
    });
  }
  const existing = await readable(workspace);
  try {
    const settings = await withTerminal((ask) => dialogue(ask, workspace, existing));
    if (settings === undefined) process.stderr.write(`kept ${BASE_FILE}\n`);
    else write(workspace, settings);
    return 0;
  } catch (error) {
    if (!(error instanceof Aborted)) throw error;
    process.stderr.write("\nNothing was written.\n");
    return exitCodeOf("interrupted");
  }
}

/** Settings that cannot be read cannot be shown; there is a way out of that. */
async function readable(workspace: string): Promise<LoadedSettings> {
  try {
    return await loadSettings(workspace);
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    const hint = "correct it, or overwrite it: ralph init --yes --force";
    throw new RalphError(error.message, { code: error.code, hint, cause: error });
  }
}

/** undefined: what is there shall stay. */
async function dialogue(
  ask: Ask,
  workspace: string,
  existing: LoadedSettings,
): Promise<NewSettings | undefined> {
  if (existsSync(join(workspace, BASE_FILE))) {
    process.stdout.write(
      `${JSON.stringify(withoutSecrets(existing.settings), null, 2)}\n${sourcesOf(existing)}\n`,
    );
    if (!isYes(await ask("Overwrite? (y/N)"))) return undefined;
  }
  const settings = await askSettings(ask, suggestions(workspace));
  process.stdout.write("\n");
  return settings;
}

function sourcesOf({ files }: LoadedSettings): string {
  const overlay = files.some(({ name }) => name === LOCAL_FILE);
  return `Loaded from ${BASE_FILE}${overlay ? " (with local overlay from settings.local.json)" : ""}`;
}

async function initWithout(workspace: string, { agent, force }: InitFlags): Promise<number> {
  if (existsSync(join(workspace, BASE_FILE)) && !force) {
    await readable(workspace);
    process.stdout.write(`kept ${BASE_FILE} (use --force to overwrite)\n`);
    return 0;
  }
  const { agents, guardrails } = suggestions(workspace);
  const chosen = agent ?? agents[0];
  if (chosen === undefined || chosen.trim() === "") throw noAgent();
  splitWords(chosen);
  const others = agents.filter((name) => name !== chosen);
  write(workspace, defaultSettings(chosen, guardrails));
  const shown = createRedactor(process.env)(chosen);
  process.stdout.write(
    `  agent      ${shown}${others.length === 0 ? "" : ` (also found: ${others.join(", ")})`}\n`,
  );
  process.stdout.write(`  guardrails ${guardrails.length === 0 ? "none found" : guardrails.join(", ")}\n`);
  return 0;
}

function noAgent(): RalphError {
  return new RalphError(`none of ${AGENT_NAMES.join(", ")} is on PATH`, {
    code: "agent_unknown",
    hint: "install one, or name another command: ralph init --yes --agent NAME",
  });
}

/** A makefile often calls what the project's own tool would run: it is asked when there is nothing else. */
function suggestions(workspace: string): Suggestions {
  const commands = projectCommands(workspace);
  const isDouble = (command: string, purpose: string): boolean =>
    command.startsWith("make ") &&
    commands.some((other) => other.purpose === purpose && !other.command.startsWith("make "));
  return {
    agents: AGENT_NAMES.filter((name) => which(name, workspace).status === "found"),
    guardrails: commands
      .filter(({ command, purpose }) => !isDouble(command, purpose))
      .map(({ command }) => command),
  };
}

function write(workspace: string, settings: NewSettings): void {
  const file = join(workspace, BASE_FILE);
  if (existsSync(file) && !statSync(file).isFile()) {
    throw new RalphError(`${BASE_FILE} is not a plain file`, { code: "not_a_file", hint: "remove it first" });
  }
  requireOwnFolder(workspace);
  prepareRuntimeFolder(workspace);
  writeAtomic(file, `${JSON.stringify(settings, null, 2)}\n`, 0o644);
  process.stdout.write(`Settings written to ${BASE_FILE}\n`);
  const commands = [settings.agent.command, ...settings.guardrails.map((guardrail) => guardrail.command)];
  for (const program of new Set(commands.map(programOf))) warnIfMissing(program, workspace);
}

function programOf(command: string): string {
  return /^[\w./-]+(?=\s|$)/.exec(command)?.[0] ?? "";
}

/** Only of a plain word: what else stands first in a line of shell is the shell's business. */
function warnIfMissing(program: string, workspace: string): void {
  if (program === "" || which(program, workspace).status === "found") return;
  process.stderr.write(`ralph: warning: ${program} is not on PATH\n`);
}
