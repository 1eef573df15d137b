import { agentFor } from "../agents/index.js";
import { RalphError } from "../errors.js";
import { type RepeatFlags as RecipeFlags, repeatSpec } from "../recipes/task/flags.js";
import { usesTerminal } from "../run/spec.js";
import { DEFAULT_LIMITS, limitsFrom } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { quoteWord, splitWords } from "../words.js";
import { type StartFlags, startRun } from "./start-run.js";

/** `ralph spawn` has checked them. */
type RepeatFlags = StartFlags & RecipeFlags & { promptVia?: "stdin" | "keys" };

const MANY_ITERATIONS = 50;
const MANY = `high iteration count (>${MANY_ITERATIONS}) may consume significant resources`;
/** Of a command on a terminal, whose silence is judged by its screen. */
const SCREEN_TIMEOUT_MS = 60_000;

/** The loop of `ralph spawn … -- COMMAND`: asks what stands in a file, again and again. */
export async function repeat(words: string[], flags: RepeatFlags): Promise<number> {
  const { promptFile, promptVia } = flags;
  const origin = process.cwd();
  const recipe = repeatSpec(flags, origin);
  const loaded = await loadSettings(origin, flags.config);
  const agent = agentFrom(words, flags) ?? loaded.settings.agent?.command;
  const onTerminal = usesTerminal(await kindOf(agent, loaded.settings), promptVia);
  const silence = onTerminal ? { inactivityTimeoutMs: SCREEN_TIMEOUT_MS } : {};
  const limits = limitsFrom(flags, { ...DEFAULT_LIMITS, ...silence });
  return startRun({ ...flags, ...(agent !== undefined && { agent }) }, loaded, {
    recipe,
    limits,
    stream: true,
    title: promptFile,
    sharesWorkspace: true,
    promptVia,
    warnings: limits.maxIterations > MANY_ITERATIONS ? [MANY] : [],
  });
}

function agentFrom(words: string[], { agent }: RepeatFlags): string | undefined {
  if (words.length === 0) return agent;
  if (agent === undefined) return words.map(quoteWord).join(" ");
  throw new RalphError("--agent and a command behind -- exclude each other", { code: "flag_invalid" });
}

async function kindOf(agent = "", { agents }: Settings) {
  const command = agents?.[agent]?.command ?? agent;
  return (await agentFor(splitWords(command)[0] ?? "claude")).name;
}
