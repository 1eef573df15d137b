import { resolve } from "node:path";
import { agentFor } from "../agents/index.js";
import { RalphError } from "../errors.js";
import type { RepeatSpec } from "../recipes/task/task.js";
import { usesTerminal } from "../run/spec.js";
import { DEFAULT_LIMITS, limitsFrom } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import { quoteWord, splitWords } from "../words.js";
import { validPattern } from "./run.js";
import { type StartFlags, startRun } from "./start-run.js";

export interface RepeatFlags extends StartFlags {
  promptFile: string;
  donePattern?: string;
  promptVia?: string;
}

const MANY_ITERATIONS = 50;
const MANY = `high iteration count (>${MANY_ITERATIONS}) may consume significant resources`;
/** Of a command on a terminal, whose silence is judged by its screen. */
const SCREEN_TIMEOUT_MS = 60_000;

/** The loop of `ralph spawn … -- COMMAND`: asks what stands in a file, again and again. */
export async function repeat(words: string[], flags: RepeatFlags): Promise<number> {
  const origin = process.cwd();
  const recipe = repeatSpec(flags, origin);
  const loaded = await loadSettings(origin, flags.config);
  const agent = agentFrom(words, flags) ?? loaded.settings.agent?.command;
  const promptVia = promptViaFrom(flags);
  const onTerminal = usesTerminal(await kindOf(agent, loaded.settings.agents), promptVia);
  const limits = limitsFrom(flags, {
    ...DEFAULT_LIMITS,
    ...(onTerminal && { inactivityTimeoutMs: SCREEN_TIMEOUT_MS }),
  });
  return startRun({ ...flags, ...(agent !== undefined && { agent }) }, loaded, {
    recipe,
    limits,
    stream: true,
    title: flags.promptFile,
    sharesWorkspace: true,
    promptVia,
    warnings: limits.maxIterations > MANY_ITERATIONS ? [MANY] : [],
  });
}

function repeatSpec({ promptFile, donePattern }: RepeatFlags, origin: string): RepeatSpec {
  return {
    kind: "repeat",
    promptFile: resolve(origin, promptFile),
    ...(donePattern !== undefined && { donePattern: validPattern(donePattern) }),
  };
}

function agentFrom(words: string[], { agent }: RepeatFlags): string | undefined {
  if (words.length === 0) return agent;
  if (agent === undefined) return words.map(quoteWord).join(" ");
  throw new RalphError("--agent and a command behind -- exclude each other", { code: "flag_invalid" });
}

function promptViaFrom({ promptVia }: RepeatFlags): "stdin" | "keys" | undefined {
  if (promptVia === undefined || promptVia === "stdin" || promptVia === "keys") return promptVia;
  throw new RalphError(`--prompt-via ${promptVia}: expected stdin or keys`, { code: "flag_invalid" });
}

type Profiles = Record<string, { command: string }> | undefined;

async function kindOf(agent: string | undefined, profiles: Profiles = {}) {
  const command = agent === undefined ? "" : (profiles[agent]?.command ?? agent);
  return (await agentFor(splitWords(command)[0] ?? "claude")).name;
}
