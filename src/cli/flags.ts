import { AGENT_NAMES } from "../agents/index.js";
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

/** An older name: accepted, but not shown. */
export function older(flags: string, sameAs: string): Flag {
  return flag(flags, "", { sameAs, isHidden: true });
}

function group(heading: string, flags: Flag[]): Flag[] {
  return flags.map((one) => ({ ...one, group: heading }));
}

export const JSON_DOCUMENT = flag("--json", "print JSON");
export const STATUS_HELP =
  "running, paused, waiting, done, failed, stopped, stuck, blocked, interrupted, ..., or several: failed,stopped";
export const CONFIG = flag(
  "-C, --config <file>",
  "read this JSON or YAML file instead of .ralph/settings.json",
);
export const WORKTREE = flag("--worktree [name]", "work in a new git worktree, on the branch ralph/NAME");
/** For a run that becomes a pull request. */
export const PULL_REQUEST = flag("--pr", "open a pull request when the run has succeeded (with --worktree)", {
  group: "GitHub:",
});
/** For a run that works on an issue. */
export const ISSUE = group("GitHub:", [
  flag("--issue <n>", "work on this issue (its number or its address)"),
  flag("--trust-author", "work on it even if its author has no write access"),
  PULL_REQUEST,
]);
export const STYLE = [
  flag("--no-color", "print no colours"),
  flag("--no-emoji", "print text instead of emoji"),
];
export const SHOW = [...STYLE, JSON_DOCUMENT];

export function agentFlags(): Flag[] {
  return group("Agent:", [
    flag("--agent <name>", `${AGENT_NAMES.join(", ")}, a profile of the settings, or any command`),
    flag("--model <model>", "model of the agent"),
    many("--agent-flag <flag>", "pass a flag to the agent (repeatable)"),
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
    const not = flag(no[0], `${no[1]}${value ? "" : isDefault}`, { sameAs: row.flag });
    return value ? [yes, not] : [not, yes];
  });
  return group(NETS, [
    ...limits.slice(0, 8),
    flag("--escalate-model <model>", "use this model when the run is stuck"),
    many("--fallback-agent <agent>", "use this agent while the first one is limited or down (repeatable)"),
    ...limits.slice(8),
    flag("--keep-background", "do not end processes that agents and checks leave running"),
    flag("--no-inhibit", "let the machine sleep while the loop runs"),
    flag("--sandbox [kind]", `confine the agent: auto, docker, srt or none${unless(sandbox)}`),
    flag("--no-sandbox", "do not confine the agent"),
  ]);
}

export const CHECK_TIMEOUT = flag("--check-timeout <duration>", "time limit of each check (default: 10m)");

export const CHECKS = [
  many("--check <command>", "add a check: a command that must exit 0 (repeatable)"),
  flag("--no-project-checks", "leave out the checks of the settings"),
  CHECK_TIMEOUT,
];

export const NO_DONE_INSTRUCTION = flag(
  "--no-done-instruction",
  "do not add to the prompt how to report that the work is done and how to ask",
);

/** How the agent of a prompt says that it is done. */
export const COMPLETION = [
  flag("--completion-response <text>", "what <response> must say (default: DONE)"),
  older("-c <text>", "--completion-response"),
  flag("--done-pattern <regex>", "a final message that matches also means done"),
  NO_DONE_INSTRUCTION,
];

export const OUTPUT = group("Output:", [
  ...STYLE,
  flag("--json", "print one event per line on stdout"),
  flag("-q, --quiet", "print only the closing summary"),
  flag("-V, --verbose", "print every step on stderr"),
  flag("--timestamps", "print the time before each line"),
]);

export const REPORT = group("Report:", [
  flag("--report <format>", "print a report at the end: json, markdown or github"),
  flag("--report-file <file>", "write the report to this file (default: stdout)"),
]);

const HIDDEN_CHECK = "--hidden-check <command>";
export const HIDDEN_AGAIN = many(
  HIDDEN_CHECK,
  "give a hidden check of the run again: ralph keeps no copy of it (repeatable)",
);

/** What a green result needs beyond the checks; on every command that starts a run with checks. */
export const PROOF = group("Proof:", [
  many(HIDDEN_CHECK, "add a check that the agent never sees; it learns only that one failed (repeatable)"),
  flag(
    "--confirm <n>",
    "once all checks pass, run them n more times; a different result is flaky (default: 0)",
  ),
  flag(
    "--require-witness",
    "require that a check that failed before the run passes now (runs the checks first)",
  ),
  flag("--sign", "sign the receipt with your ssh key, as git signs commits"),
]);

export function startFlags(defaults: NetDefaults = {}, agent = agentFlags()): Flag[] {
  const what = "run the checks first, and report what failed before the run";
  const baseline = flag("--baseline", what, { group: NETS });
  const name = flag("--name <name>", "name of the run (default: two words that ralph chooses)");
  return [name, ...agent, ...nets(defaults), baseline, ...PROOF, ...OUTPUT, ...REPORT];
}

/** The ways to give a task. */
export const TEXT_FLAGS = [
  flag("-p, --prompt <text>", "the text, as a flag"),
  flag(
    "-f, --prompt-file <file>",
    "file with the text; ralph reads it before each iteration (-: stdin, once)",
  ),
];
