import type { Limits } from "../events.js";
import type { SandboxChoice } from "../run/sandbox.js";
import { invalid, saysSomething } from "../settings/limits.js";

/** The safety nets that are read by their names; limits are read by their rows. */
export interface SafetyNetFlags {
  maxIterations?: string;
  fallbackAgent?: string[];
  escalateModel?: string;
  /** What agents and checks leave running is left alone. */
  keepBackground?: boolean;
  /** true: one that works, whichever; false: none. */
  sandbox?: string | boolean;
}

/** `--worktree "fix it"`: a value that may be left out has taken the task. */
export function swallowed(
  { worktree }: { worktree?: string | boolean },
  command: string,
): string | undefined {
  if (typeof worktree !== "string") return undefined;
  const word = JSON.stringify(worktree);
  return `--worktree took ${word} for its own value; if that is the task, put it first: ${command} ${word} --worktree`;
}

/** `ralph loop` goes round a hundred times at the most. */
export function checkedFor(mostIterations: number | undefined, limits: Limits): Limits {
  if (mostIterations === undefined || limits.maxIterations <= mostIterations) return limits;
  const expected = `a whole number from 1 to ${mostIterations}`;
  throw invalid("--max-iterations", String(limits.maxIterations), expected);
}

/** What is asked of no check tells nothing. */
export function baselineWarnings(isAsked: boolean | undefined, checks: number): string[] {
  return isAsked && checks === 0 ? ["--baseline: there is no check to run"] : [];
}

const SANDBOXES = ["auto", "docker", "srt", "none"] as const;

/** undefined where nothing was said. */
export function sandboxFrom({ sandbox }: SafetyNetFlags): SandboxChoice | undefined {
  if (sandbox === undefined) return undefined;
  if (typeof sandbox === "boolean") return sandbox ? "any" : "none";
  const kind = SANDBOXES.find((name) => name === sandbox);
  if (kind !== undefined) return kind;
  const kinds = SANDBOXES.join(", ").replace(/, (?=\w+$)/, " or ");
  const more = sandbox === "sbx" ? "; docker is sbx where that is installed" : "";
  throw invalid("--sandbox", sandbox, `${kinds}${more}`);
}

/** Who takes over when an agent is limited, down or stuck. */
export function netFlags({
  fallbackAgent,
  escalateModel,
}: Pick<SafetyNetFlags, "fallbackAgent" | "escalateModel">) {
  return {
    fallbackAgents: fallbackAgent?.map((agent) => saysSomething("--fallback-agent", agent)),
    escalateModel: escalateModel === undefined ? undefined : saysSomething("--escalate-model", escalateModel),
  };
}
