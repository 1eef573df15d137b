import { RalphError } from "../../errors.js";
import type { RunState } from "../../records/run-state.js";
import type { RunFolder } from "../../records/runs.js";
import { titleOf } from "../../records/spec.js";
import { quoteWord } from "../../words.js";
import { git, someOf } from "../../workspace/git.js";
import { commitOf, type DoneStory, isPartOf } from "../../workspace/landing/merge.js";
import { branchOf, locateWorktree } from "../../workspace/worktree/worktree.js";
import { type RunSpec, readSpec } from "../spec.js";
import { storiesDone } from "./checks.js";

export interface LandingAsked {
  /** Short name of the branch; default: the one that the run was started from. */
  into?: string | undefined;
  squash?: boolean | undefined;
  /** The worktree and the branch of the run stay. */
  keep?: boolean | undefined;
  /** Land even if no check verifies the work. */
  allowUnverified?: boolean | undefined;
}

/** The work of a run, and where it goes. */
export interface LandingPlan {
  run: RunFolder;
  spec: RunSpec;
  repository: string;
  /** Short name of the branch that holds the work. */
  branch: string;
  tip: string;
  into: string;
  title: string;
  /** Those that it has done, of a run over stories. */
  stories: DoneStory[];
  /** Where ralph builds and verifies. */
  worktree: string;
  /** How far a landing got that was cut off: the branch has moved, or only the cleaning is left. */
  done?: "moved" | "landed" | undefined;
  state: RunState;
}

/** Checks everything before anything changes. */
export async function planLanding(run: RunFolder, asked: LandingAsked): Promise<LandingPlan> {
  const name = run.name();
  const spec = readSpec(run);
  const state = endedWell(run, name);
  const { origin: repository = spec.workspace } = spec;
  const branch = branchOfRun(spec, state, name);
  const into = targetOf(spec, branch, asked, name);
  const known = state.landings?.[into];
  const commit = await commitOf(repository, `refs/heads/${branch}`);
  const target = await commitOf(repository, `refs/heads/${into}`);
  if (!(await git(repository, ["check-ref-format", `refs/heads/${into}`])).ok)
    throw refusal("branch_name", `--into ${JSON.stringify(into)}: not a name for a branch`);
  if (target === undefined)
    throw refusal(
      "branch_unknown",
      `there is no branch ${into}`,
      `git branch ${quoteWord(into)} creates one`,
    );
  const done = await doneOf(known, repository, target);
  if (done === "landed") refuseLanded(known, commit, into, name);
  const tip = commit ?? (done === undefined ? undefined : known?.tip);
  if (tip === undefined) throw branchGone(name, branch, state);
  const { path: worktree } = await locateWorktree(repository, `landing-${run.id}`);
  const stories = await storiesDone(spec, tip);
  const title = titleFor(stories) ?? titleOf(spec);
  return { run, spec, repository, branch, tip, into, title, stories, worktree, done, state };
}

function titleFor(stories: DoneStory[]): string | undefined {
  const [first, second] = stories;
  if (second !== undefined)
    return someOf(
      stories.map(({ id }) => id),
      5,
    );
  return first && `${first.id}: ${first.title}`;
}

function targetOf({ branch }: RunSpec, own: string, { into = branch }: LandingAsked, name: string): string {
  if (into === own) throw refusal("branch_own", `${into} is the branch of ${name} itself`, "choose another");
  if (into !== undefined) return into;
  const what = `ralph does not know which branch ${name} started from (detached HEAD)`;
  throw refusal("branch_missing", what, "say where: --into BRANCH");
}

type Prior = NonNullable<RunState["landings"]>[string] | undefined;

/** How far an earlier landing got. It writes an event before the branch moves, and one after. */
async function doneOf(known: Prior, repository: string, target: string): Promise<LandingPlan["done"]> {
  if (known === undefined || known.type === "landing.refused") return undefined;
  if (!(await isPartOf(repository, known.new, target))) return undefined;
  return known.type === "landing.started" ? "moved" : "landed";
}

/** Not if its branch has yet to be removed. */
function refuseLanded(known: Prior, commit: string | undefined, into: string, name: string): void {
  if (known === undefined || (commit === known.tip && !known.keep)) return;
  const what = `${name} was landed in ${into} already (${known.new?.slice(0, 9)})`;
  throw refusal("landed_already", what);
}

/** Only work that was verified as a whole may land. */
function endedWell(run: RunFolder, name: string): RunState {
  const loop = run.loop();
  if (loop !== undefined && loop.pid !== process.pid)
    throw refusal(
      "run_running",
      `${name} is running (pid ${loop.pid})`,
      `ralph wait ${name} waits until it ends`,
    );
  const state = run.state();
  if (state === undefined || state.status !== "finished")
    throw refusal("run_unfinished", `${name} has not ended`, `ralph resume ${name} continues it`);
  if (!state.success)
    throw refusal(
      "run_failed",
      `${name} did not succeed (${state.reason}): only verified work is landed`,
      `ralph resume ${name} continues it, ralph diff ${name} shows what it did`,
    );
  const { unsettled } = state.finished ?? {};
  if (unsettled !== undefined)
    throw refusal("run_unsettled", `not all work of ${name} is on its branch: ${unsettled}`);
  return state;
}

function branchOfRun({ worktree }: RunSpec, { finished }: RunState, name: string): string {
  if (finished?.branch !== undefined) return finished.branch;
  if (worktree !== undefined) return branchOf(worktree);
  throw refusal(
    "no_worktree",
    `${name} worked in your folder, so there is no branch to land`,
    `ralph diff ${name} shows what it changed; --worktree gives a run a branch of its own`,
  );
}

function branchGone(name: string, branch: string, { landings = {} }: RunState): RalphError {
  const [landed] = Object.values(landings).filter(({ type }) => type === "landing.landed");
  if (landed !== undefined)
    return refusal(
      "landed_already",
      `${name} was landed in ${landed.into} already (${landed.new?.slice(0, 9)})`,
    );
  return refusal(
    "branch_gone",
    `the branch ${branch} of ${name} is gone`,
    "git reflog may still know its commits",
  );
}

export function refusal(code: string, message: string, hint?: string, exitCode = 2): RalphError {
  return new RalphError(message, { code, hint, exitCode });
}
