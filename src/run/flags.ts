import type { SandboxChoice } from "../sandbox/choose.js";
import { invalid, MOST_CONFIRMATIONS, saysSomething, wholeNumber } from "../settings/limits.js";
import type { RunRequest } from "./spec.js";

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
