import { existsSync } from "node:fs";
import { AGENT_NAMES } from "../agents/index.js";
import { RalphError } from "../errors.js";
import { entryAt, writeFresh } from "../records/files.js";
import { createRedactor } from "../records/redact.js";
import { BASE_FILE, LOCAL_FILE, type LoadedSettings, loadSettings } from "../settings/load.js";
import {
  Aborted,
  type Ask,
  askSettings,
  defaultSettings,
  firstPrompt,
  isYes,
  type NewSettings,
  suggestionsFor,
  withTerminal,
  writeSettings,
} from "../setup/init.js";
import { exitCodeOf } from "../stop-reasons.js";
import { plural } from "../views/figures.js";
import { splitWords } from "../words.js";
import { withoutSecrets } from "./config.js";
import { failure, printAll, say, warn } from "./output.js";

interface InitFlags {
  yes?: boolean;
  agent?: string;
  prompt?: boolean;
  force?: boolean;
}

const PROMPT = "PROMPT.md";

/** `ralph template`: a first prompt for a loop, to pipe or to read. */
export async function template(): Promise<number> {
  return printAll(await promptHere());
}

/** `ralph init`: writes the settings of this project, or a first PROMPT.md. */
export async function init(flags: InitFlags): Promise<number> {
  const { yes, agent, prompt, force } = flags;
  const [useless] = [
    ...(prompt && yes ? ["--prompt and --yes exclude each other"] : []),
    ...(force && !prompt && !yes ? ["--force needs --prompt or --yes"] : []),
    ...(agent !== undefined && !yes ? ["--agent needs --yes"] : []),
  ];
  if (useless !== undefined)
    throw failure("flag_useless", useless, "without flags, ralph init asks for each setting");
  if (!prompt) return yes ? initWithout(flags) : initOnTerminal();
  const isThere = entryAt(PROMPT) !== undefined;
  if (isThere && !force)
    throw failure("file_exists", `${PROMPT} already exists (use --force to overwrite)`, undefined, 1);
  writeFresh(PROMPT, await promptHere());
  say(`created ${PROMPT}${isThere ? " (overwritten)" : ""}`);
  return say(`Next: describe what you want in it, then: ralph run -f ${PROMPT}`);
}

async function promptHere(): Promise<string> {
  const { settings } = await readable();
  return firstPrompt(process.cwd(), settings.completionResponse);
}

async function initOnTerminal(): Promise<number> {
  const hint = "ralph init --yes writes the defaults without asking";
  if (!process.stdin.isTTY)
    throw failure("no_terminal", "ralph init asks questions and needs a terminal", hint);
  const existing = await readable();
  try {
    const settings = await withTerminal((ask) => dialogue(ask, existing));
    if (settings === undefined) process.stderr.write(`kept ${BASE_FILE}\n`);
    else finish(settings);
    return 0;
  } catch (error) {
    if (!(error instanceof Aborted)) throw error;
    process.stderr.write("\nNothing was written.\n");
    return exitCodeOf("interrupted");
  }
}

/** Unreadable settings cannot be shown; the error says how to replace them. */
async function readable(): Promise<LoadedSettings> {
  try {
    return await loadSettings(process.cwd());
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    throw failure(error.code, error.message, "correct it, or overwrite it: ralph init --yes --force");
  }
}

/** undefined: the user keeps the existing file. */
async function dialogue(ask: Ask, { settings, files }: LoadedSettings): Promise<NewSettings | undefined> {
  if (existsSync(BASE_FILE)) {
    const isLocal = files.some(({ name }) => name === LOCAL_FILE);
    const overlay = isLocal ? " (with local overlay from settings.local.json)" : "";
    say(`${JSON.stringify(withoutSecrets(settings), null, 2)}\nLoaded from ${BASE_FILE}${overlay}`);
    if (!isYes(await ask("Overwrite? (y/N)"))) return undefined;
  }
  const asked = await askSettings(ask, suggestionsFor(process.cwd()));
  say("");
  return asked;
}

async function initWithout({ agent, force }: InitFlags): Promise<number> {
  if (existsSync(BASE_FILE) && !force) {
    await readable();
    return say(`kept ${BASE_FILE} (use --force to overwrite)`);
  }
  const found = suggestionsFor(process.cwd());
  const { agents } = found;
  const chosen = agent ?? agents[0] ?? "";
  if (chosen.trim() === "")
    throw failure(
      "agent_unknown",
      `none of ${AGENT_NAMES.join(", ")} is on PATH`,
      "install one, or name another command: ralph init --yes --agent NAME",
    );
  splitWords(chosen);
  const others = agents.filter((name) => name !== chosen);
  return finish(await defaultSettings(chosen, found), others);
}

function finish(settings: NewSettings, others: string[] = []): number {
  const absent = writeSettings(settings, process.cwd());
  say(`Settings written to ${BASE_FILE}`);
  for (const program of absent)
    warn(program.includes("/") ? `${program} does not exist yet` : `${program} is not on PATH`);
  const { agent, checks, setup, maxIterations, maxCost, maxTime } = settings;
  const also = others.length === 0 ? "" : ` (also found: ${others.join(", ")})`;
  const limits = [
    plural(maxIterations, "iteration"),
    ...(maxCost === undefined ? [] : [`$${maxCost}`]),
    ...(maxTime === undefined ? [] : [maxTime]),
  ];
  const hide = createRedactor(process.env);
  say(`  agent   ${hide(agent.command)}${also}`);
  say(`  checks  ${hide(checks.join("; ")) || "none: the agent alone decides"}`);
  say(`  setup   ${hide(setup ?? "none")}`);
  say(`  limits  ${limits.join(", ")}`);
  return say('Next: ralph run "WHAT YOU WANT DONE"');
}
