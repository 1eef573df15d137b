import type { Budget } from "../loop/effects.js";
import type { Recipe } from "../loop/recipe.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { ChecksSetup } from "../verify/schedule.js";
import type { FindNewPrograms } from "../workspace/git-programs.js";
import type { CommitMessage } from "../workspace/scm.js";
import type { TaskCheck } from "./checks.js";

export interface RecipeContext extends ChecksSetup {
  records: string;
  folderFor(iteration: number): string;
  kill: AbortSignal;
  /** The commit that was checked out when the run began. */
  base: string | undefined;
  /** Untracked files that were copied into the worktree: they are not the run's work, and most often secret. */
  hidden: string[];
  /** Where agents work, if they are shut in. */
  agentSandbox: Sandbox | undefined;
  /** Whether the run was asked to shut its agents in. */
  isShutIn: boolean;
  /** What git would run that it did not run when the run began; undefined: nobody commits. */
  newPrograms: FindNewPrograms | undefined;
  askForCommitMessage(iteration: number, budget?: Budget): Promise<CommitMessage>;
}

/** By its path from the workspace on; undefined: it was not committed. */
type ReadBegun = (file: string) => Promise<string | undefined>;

/** All that a run has to know of a recipe, and how the recipe is made. */
export interface RecipeRow<Spec> {
  create(spec: Spec, context: RecipeContext): Recipe | Promise<Recipe>;
  /** The commands that verify the work; left out where nothing does. */
  checks?(spec: Spec, workspace: string): string[];
  /** Those that prove the work wherever it is; `begun` reads a file as it was when the run began. */
  proof?(spec: Spec, begun: ReadBegun): TaskCheck[] | Promise<TaskCheck[]>;
  /** What of its list the work has done, as its commit tells; `now` reads a file as the work leaves it. */
  done?(spec: Spec, begun: ReadBegun, now: ReadBegun): Promise<{ id: string; title: string }[]>;
  /** Whether one of them names the files that it depends on. */
  hasInputs?(spec: Spec): boolean;
  /** Who commits: ralph alone, in the user's name and at the end, or the agents, too. */
  commits?(spec: Spec): "ralph" | "agents" | undefined;
  /** Files that no agent may change, beside those of the settings. */
  protects?: readonly string[];
  mostIterations?: number;
  /** Fallback agents and the like of the settings are not meant for it. */
  ignoresNetSettings?: true;
  /** What its agents are shut into, unless a flag or the settings say. */
  sandbox?: "auto";
  /** Throws where a run cannot go on. */
  checkResume?(spec: Spec, workspace: string): void;
}
