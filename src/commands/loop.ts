import { type ChecksFlags, checksSpec } from "../recipes/task/flags.js";
import type { ChecksSpec } from "../recipes/task/loop-style.js";
import { readTextFile } from "../recipes/text-file.js";
import { unlessDefault } from "../run/agent-spec.js";
import { sandboxFrom } from "../run/flags.js";
import { DEFAULT_LIMITS, LOOP_DEFAULTS, limitsFrom, limitsOfSection } from "../settings/limits.js";
import { loadSettings, loopSection } from "../settings/load.js";
import { saysTag } from "../verify/done.js";
import { git, repositoryRoot } from "../workspace/git.js";
import { type StartFlags, startRun } from "./start-run.js";

type LoopFlags = StartFlags & ChecksFlags;

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
  return startRun(flags, loaded, {
    recipe,
    limits: limitsFrom(flags, { ...DEFAULT_LIMITS, maxIterations, ...limitsOfSection(section) }),
    stream: loaded.settings.streamAgentOutput,
    agent: unlessDefault(agent ?? section.agent, loaded.settings),
    title: task ?? flags.spec ?? "",
    warnings: [...(await repositoryWarnings(origin)), ...tagWarnings(text, recipe)],
  });
}

const NOT_TOLD = "agents are not told what has changed so far";

/** git may be missing, or refuse to look at somebody else's folder. */
async function repositoryWarnings(origin: string): Promise<string[]> {
  if (repositoryRoot(origin) === undefined) return [`not a git repository: ${NOT_TOLD}`];
  const { ok, stderr, spawnError } = await git(origin, ["rev-parse", "--git-dir"]);
  return ok ? [] : [`${NOT_TOLD}: ${spawnError?.message ?? stderr.trim().split("\n", 1)[0]}`];
}

/** An agent that repeats the task would seem to be done. */
function tagWarnings(text: string, { completionTag: tag }: ChecksSpec): string[] {
  if (tag === null || !saysTag(text, tag)) return [];
  return [`the task itself says ${tag} on a line of its own: --completion-tag TAG chooses another word`];
}
