import { LIMIT_ROWS } from "../settings/limits.js";

/** A flag as commander has it, with its help; the rows that several commands share. */
export interface Flag {
  flags: string;
  help: string;
  /** The heading above it in the help. */
  group?: string;
  isHidden?: true;
  isRepeatable?: true;
  choices?: string[];
  /** The flag that it is another name of. */
  sameAs?: string;
}

export function flag(flags: string, help = "", more: Omit<Flag, "flags" | "help"> = {}): Flag {
  return { flags, help, ...more };
}

export function many(flags: string, help: string): Flag {
  return { flags, help, isRepeatable: true };
}

function group(heading: string, flags: Flag[]): Flag[] {
  return flags.map((one) => ({ ...one, group: heading }));
}

export const JSON_DOCUMENT = flag("--json", "as JSON");
export const CONFIG = flag("-C, --config <file>", "JSON or YAML file in place of .ralph/settings.json");
export const WORKTREE = flag("--worktree [name]", "work in a git worktree of its own");
export const LOOK = [flag("--no-color", "no colours"), flag("--no-emoji", "text markers in place of emoji")];

/** `short` is a letter for the model, where it is not taken. */
export function agentFlags(short = ""): Flag[] {
  return group("Agent:", [
    flag("--agent <name>", "claude, codex, amp, gemini, opencode, a profile in the settings, or any command"),
    flag(`${short}--model <model>`, "the agent's model"),
    many("--agent-flag <flag>", "a flag for the agent (repeatable)"),
  ]);
}

interface NetDefaults {
  /** null where limits that are not given stay as they were. */
  maxIterations?: string | null;
  stuckAfter?: string;
  sandbox?: string;
}

const NETS = "Safety nets:";

export function nets({ maxIterations = "10", stuckAfter = "3", sandbox = "none" }: NetDefaults = {}): Flag[] {
  const unless = (value: unknown): string =>
    maxIterations === null || value === null ? "" : ` (default: ${value})`;
  const shown: Record<string, string | null> = { maxIterations, stuckAfter };
  const isDefault = maxIterations === null ? "" : " (default)";
  const limits = LIMIT_ROWS.flatMap(([name, row]): Flag[] => {
    const { help, no, default: value } = row;
    const known = shown[name] ?? row.shown ?? value;
    if (no === undefined) return [flag(row.flag, `${help}${unless(known)}`)];
    const yes = flag(row.flag, `${help}${value ? isDefault : ""}`);
    const not = flag(no[0], `${no[1]}${value ? "" : isDefault}`);
    return value
      ? [yes, not]
      : [flag("--overage", "", { sameAs: "--allow-overage", isHidden: true }), not, yes];
  });
  return group(NETS, [
    ...limits.slice(0, 8),
    flag("--escalate-model <model>", "ask this model when the run is stuck, before it is given up"),
    many("--fallback-agent <agent>", "ask this one while the agent is limited or down (repeatable)"),
    ...limits.slice(8),
    flag("--keep-background", "leave alone what agents and checks leave running"),
    flag("--no-inhibit", "let the machine fall asleep while the loop runs"),
    flag("--sandbox [kind]", `shut the agent in: auto, docker, srt or none${unless(sandbox)}`),
    flag("--no-sandbox", "let the agent do all that you can"),
  ]);
}

/** For recipes with checks. */
const BASELINE = flag(
  "--baseline",
  "run the checks before the first iteration, and tell what failed already",
  {
    group: NETS,
  },
);

export const OUTPUT = group("Output:", [
  ...LOOK,
  flag("--json", "one event per line on stdout"),
  flag("-q, --quiet", "the closing summary alone"),
  flag("-V, --verbose", "tell every step on stderr"),
  flag("--timestamps", "the time before each line"),
]);

export const REPORT = group("Report:", [
  flag("--report <format>", "json, markdown or github, when the run has ended"),
  flag("--report-file <file>", "where it goes (default: stdout)"),
]);

/** Flags of every command that starts a run with checks. */
export function startFlags(defaults: NetDefaults = {}, agent = agentFlags()): Flag[] {
  return [...agent, ...nets(defaults), BASELINE, ...OUTPUT, ...REPORT];
}
