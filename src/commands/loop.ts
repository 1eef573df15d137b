import { resolve } from "node:path";
import { RalphError } from "../errors.js";
import type { ChecksSpec } from "../recipes/task/loop-style.js";
import { readTextFile } from "../recipes/text-file.js";
import { unlessDefault } from "../run/agent-spec.js";
import { sandboxFrom, swallowed } from "../run/flags.js";
import {
  DEFAULT_LIMITS,
  duration,
  invalid,
  LOOP_DEFAULTS,
  limitsFrom,
  limitsOfSection,
  saysSomething,
} from "../settings/limits.js";
import { loadSettings, loopSection } from "../settings/load.js";
import type { LoopSettings } from "../settings/schema.js";
import { saysTag } from "../verify/done.js";
import { git, repositoryRoot } from "../workspace/git.js";
import { type StartFlags, startRun } from "./start-run.js";

export interface LoopFlags extends StartFlags {
  check?: string[];
  spec?: string;
  /** false: `--no-completion-tag`. */
  completionTag?: string | false;
  checkTimeout?: string;
}

const NO_REPOSITORY = "not a git repository: agents are not told what has changed so far";

/** `ralph loop TASK --check CMD…`: asks for a task until every check passes. */
export async function loop(task: string | undefined, { agent, ...flags }: LoopFlags): Promise<number> {
  const origin = process.cwd();
  // It may have taken the task for its kind.
  sandboxFrom(flags);
  const loaded = await loadSettings(origin, flags.config);
  const section = loopSection(loaded.settings);
  const recipe = checksSpec(task, flags, section, origin);
  const text = flags.spec === undefined ? recipe.task : readTextFile("spec file", flags.spec, origin);
  const { maxIterations } = LOOP_DEFAULTS;
  const limits = limitsFrom(flags, { ...DEFAULT_LIMITS, maxIterations, ...limitsOfSection(section) });
  return startRun(flags, loaded, {
    recipe,
    limits,
    stream: loaded.settings.streamAgentOutput,
    agent: unlessDefault(agent ?? section.agent, loaded.settings),
    title: task ?? flags.spec ?? "",
    warnings: [...(await repositoryWarnings(origin)), ...tagWarnings(text, recipe)],
  });
}

/** git may be missing, or refuse to look at somebody else's folder. */
async function repositoryWarnings(origin: string): Promise<string[]> {
  if (repositoryRoot(origin) === undefined) return [NO_REPOSITORY];
  const { ok, stderr, spawnError } = await git(origin, ["rev-parse", "--git-dir"]);
  const why = spawnError?.message ?? stderr.trim().split("\n", 1)[0];
  return ok ? [] : [`agents are not told what has changed so far: ${why}`];
}

/** Whoever repeats the task would seem to be done. */
function tagWarnings(text: string, { completionTag }: ChecksSpec): string[] {
  if (completionTag === null || !saysTag(text, completionTag)) return [];
  return [
    `the task itself says ${completionTag} on a line of its own: --completion-tag TAG chooses another word`,
  ];
}

/** What flags and settings ask for. */
function checksSpec(
  task: string | undefined,
  flags: LoopFlags,
  section: LoopSettings,
  origin: string,
): ChecksSpec {
  const checks = (flags.check ?? []).map((command) => runsSomething(saysSomething("--check", command)));
  if (checks.length === 0) {
    throw new RalphError("no check was given", {
      code: "check_missing",
      hint: '--check CMD says when the work is done, such as --check "npm test"',
    });
  }
  return {
    kind: "checks",
    ...whatToDo(task, flags, origin),
    checks,
    checkTimeoutMs:
      flags.checkTimeout === undefined
        ? LOOP_DEFAULTS.checkTimeoutMs
        : duration("--check-timeout", flags.checkTimeout),
    completionTag: tagOf(flags, section),
  };
}

/** A comment exits 0 and checks nothing. */
function runsSomething(command: string): string {
  const isComment = command.split("\n").every((line) => /^\s*(#|$)/.test(line));
  if (isComment) throw invalid("--check", command, "a command, and this is a comment");
  return command;
}

/** A spec file is found again from a worktree, and with what is in it now. */
function whatToDo(
  task = "",
  { spec, ...flags }: LoopFlags,
  origin: string,
): Pick<ChecksSpec, "task" | "specFile"> {
  if (spec !== undefined) return { task, specFile: resolve(origin, spec) };
  if (task.trim() !== "") return { task };
  throw new RalphError("no task was given", {
    code: "task_missing",
    hint: swallowed(flags, "ralph loop") ?? "say what to do: ralph loop TASK --check CMD, or --spec FILE",
  });
}

function tagOf(
  { completionTag }: LoopFlags,
  { completion_tag = LOOP_DEFAULTS.completionTag }: LoopSettings,
): string | null {
  if (completionTag === false) return null;
  if (completionTag === undefined) return completion_tag?.trim() ?? null;
  saysSomething("--completion-tag", completionTag);
  if (!/[\r\n]/.test(completionTag.trim())) return completionTag.trim();
  throw invalid("--completion-tag", JSON.stringify(completionTag), "one line");
}
