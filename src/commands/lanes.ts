import { basename } from "node:path";
import { checksFor, type StoriesSpec } from "../recipes/stories/run.js";
import type { TaskList } from "../recipes/stories/tasks.js";
import type { AgentChoice, LanesSpec } from "../run/spec.js";
import { invalid, saysSomething, wholeNumber } from "../settings/limits.js";
import { splitWords } from "../words.js";
import { git, headCommit } from "../workspace/git.js";
import { requireFreeName } from "../workspace/worktree/worktree.js";
import { failure } from "./output.js";
import { startRun } from "./start-run.js";
import { type LoopFlags, loopStart } from "./task.js";

const MOST_LANES = 64;

function laneCount(flag: string, value: string): number {
  const count = wholeNumber(flag, value, 1);
  if (count <= MOST_LANES) return count;
  throw invalid(flag, value, `a whole number from 1 to ${MOST_LANES}`);
}

/** Lanes begin with a commit, and what they make has a branch to go to. */
async function requireBranch(project: string): Promise<void> {
  if ((await headCommit(project)) === undefined)
    throw failure(
      "no_commit",
      "lanes need a commit to start from, and this repository has none",
      "commit something first",
    );
  if (!(await git(project, ["symbolic-ref", "--quiet", "HEAD"])).ok)
    throw failure("detached_head", "HEAD is detached, and lanes start from a branch", "git switch BRANCH");
  await requireFreeName(project, "ralph/*");
}

export interface ParallelFlags {
  parallel?: string;
  allowUnverified?: boolean;
  worktree?: string | boolean | undefined;
}

/** How many stories are worked on at once; undefined: one, in this folder. */
export function parallelFrom({ parallel, allowUnverified, worktree }: ParallelFlags): number | undefined {
  const count = parallel === undefined ? 1 : laneCount("--parallel", parallel);
  if (count === 1 && allowUnverified)
    throw failure("flag_invalid", "--allow-unverified is for --parallel", "only lanes land their work");
  if (count > 1 && worktree !== undefined)
    throw failure(
      "flag_invalid",
      "--parallel and --worktree exclude each other",
      "lanes have worktrees of their own",
    );
  return count === 1 ? undefined : count;
}

/** Without a check, nothing lands by itself. */
export async function storyLanes(
  project: string,
  parallel: number,
  { allowUnverified }: ParallelFlags,
  recipe: StoriesSpec,
  { verifyCommands = [] }: TaskList,
  hidden: number,
): Promise<LanesSpec> {
  await requireBranch(project);
  const isVerified = checksFor(recipe, verifyCommands).length + hidden > 0;
  if (!isVerified && !allowUnverified)
    throw failure(
      "check_missing",
      "no check verifies the work of the lanes",
      "add verifyCommands to tasks.json, or --check CMD; --allow-unverified lands it without a check",
    );
  return { kind: "stories", parallel, ...(!isVerified && { allowUnverified: true }) };
}

type RaceFlags = Omit<LoopFlags, "agent"> & { agent?: string[]; attempts?: string; all?: boolean };

/** `ralph race TASK --check CMD…`: the same task in several lanes; the first one whose checks pass is the result. */
export async function race(
  given: string | undefined,
  { agent: agents = [], attempts = "1", all = false, ...others }: RaceFlags,
): Promise<number> {
  for (const one of agents) saysSomething("--agent", one);
  const tries = laneCount("--attempts", attempts);
  const lanes = lanesOf(agents, tries);
  if (lanes.length < 2)
    throw failure(
      "race_of_one",
      "a race needs two lanes",
      "give --agent twice, or --attempts 2; ralph loop uses one agent",
    );
  if (lanes.length > MOST_LANES)
    throw failure(
      "flag_invalid",
      `${lanes.length} lanes are too many`,
      `at most ${MOST_LANES}: agents times --attempts`,
    );
  const [first] = agents;
  const { flags, loaded, start } = await loopStart(given, {
    ...others,
    ...(first !== undefined && { agent: first }),
  });
  await requireBranch(process.cwd());
  const choice = (agent: string): AgentChoice => ({
    agent,
    model: flags.model,
    agentFlags: flags.agentFlag ?? [],
  });
  return startRun(flags, loaded, {
    ...start,
    agents: Object.fromEntries(agents.slice(1).map((agent, index) => [`race-${index + 2}`, choice(agent)])),
    lanes: { kind: "race", parallel: lanes.length, all, lanes },
  });
}

/** Each agent as often as was asked for: the first try of each comes first. */
function lanesOf(agents: string[], attempts: number): { name: string; role: string }[] {
  const names =
    agents.length === 0 ? ["agent"] : agents.map((agent) => basename(splitWords(agent)[0] ?? agent));
  const taken = new Map<string, number>();
  return [...Array(attempts).keys()].flatMap(() =>
    names.map((given, index) => {
      const plain = given.replace(/[^\w-]+/g, "-").replace(/^-+/, "") || "agent";
      const number = (taken.get(plain) ?? 0) + 1;
      taken.set(plain, number);
      return { name: `${plain}-${number}`, role: index === 0 ? "agent" : `race-${index + 1}` };
    }),
  );
}
