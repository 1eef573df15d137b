import type { Limits } from "../events.js";
import type { SandboxChoice } from "../sandbox/choose.js";
import { invalid, saysSomething } from "../settings/limits.js";
import type { Settings } from "../settings/schema.js";
import type { Nets } from "./agent-spec.js";
import type { RunRequest } from "./context.js";

/** The safety nets that are read by their names; limits are read by their rows. */
export interface NetFlags {
  fallbackAgent?: string[];
  escalateModel?: string;
  keepBackground?: boolean;
  /** true: one that works, whichever; false: none. */
  sandbox?: string | boolean;
  /** false: the machine may fall asleep. */
  inhibit?: boolean;
}

/** Flags of every command that starts a run, as commander hands them over. */
export interface RequestFlags extends NetFlags {
  agent?: string;
  model?: string;
  agentFlag?: string[];
  config?: string;
  /** true: with a name that ralph chooses. */
  worktree?: string | boolean;
  /** Run the checks before the first iteration. */
  baseline?: boolean;
}

/** What a recipe makes of its own flags. */
export interface Start
  extends Pick<
    RunRequest,
    "recipe" | "limits" | "stream" | "title" | "agents" | "promptVia" | "sharesWorkspace"
  > {
  /** The project, if it is not the folder that ralph was started in. */
  origin?: string;
  /** The agent that the recipe's own settings name. */
  agent?: string | undefined;
  /** What the agents are shut into, unless somebody says otherwise. */
  sandbox?: SandboxChoice;
}

/** The request for a run that flags make. */
export function requestFrom(flags: RequestFlags, start: Start, settings: Settings): RunRequest {
  const { origin = process.cwd(), agent, sandbox, ...asked } = start;
  return {
    ...asked,
    origin,
    agent: { agent: flags.agent ?? agent, model: flags.model, agentFlags: flags.agentFlag ?? [] },
    nets: { ...netsFrom(flags), agent: flags.agent },
    worktree: flags.worktree ?? false,
    baseline: flags.baseline,
    keepBackground: flags.keepBackground,
    sandbox: sandboxFrom(flags) ?? settings.sandbox?.kind ?? sandbox,
    config: flags.config,
  };
}

/** Who takes over when an agent is limited, down or stuck. */
export function netsFrom({ fallbackAgent, escalateModel }: NetFlags): Nets {
  return {
    fallbackAgents: fallbackAgent?.map((agent) => saysSomething("--fallback-agent", agent)),
    escalateModel: escalateModel === undefined ? undefined : saysSomething("--escalate-model", escalateModel),
  };
}

const SANDBOXES = ["auto", "docker", "srt", "none"] as const;

/** undefined where nothing was said. */
export function sandboxFrom({ sandbox }: NetFlags): SandboxChoice | undefined {
  if (sandbox === undefined) return undefined;
  if (typeof sandbox === "boolean") return sandbox ? "any" : "none";
  const kind = SANDBOXES.find((name) => name === sandbox);
  if (kind !== undefined) return kind;
  const kinds = SANDBOXES.join(", ").replace(/, (?=\w+$)/, " or ");
  const more = sandbox === "sbx" ? "; docker is sbx where that is installed" : "";
  throw invalid("--sandbox", sandbox, `${kinds}${more}`);
}

/** `ralph loop` goes round a hundred times at the most. */
export function checkIterations({ maxIterations }: Limits, most: number | undefined): void {
  if (most !== undefined && maxIterations > most)
    throw invalid("--max-iterations", String(maxIterations), `a whole number from 1 to ${most}`);
}

/** What is asked of no check tells nothing. */
export function baselineWarnings(isAsked: boolean | undefined, checks: number): string[] {
  return isAsked && checks === 0 ? ["--baseline: there is no check to run"] : [];
}
