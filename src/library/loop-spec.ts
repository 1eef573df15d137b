import type { FunctionAgent } from "../ask/run-function.js";
import type { Limits } from "../events.js";

/** What a loop is asked to do: `ralph loop` in the words of a program. */
export interface LoopSpec {
  /** What to do. Needed unless a spec file takes its place. */
  task?: string | undefined;
  /** Shell commands that must all exit 0: at least one. They run in the workspace, in this order. */
  checks: readonly string[];
  /** A file that is read anew for each iteration, from the workspace if its path is relative. */
  specFile?: string | null | undefined;
  /** What the agent says when it is done; null: the checks alone decide. Default: `COMPLETE`. */
  completionTag?: string | null | undefined;
  /** 1 to 100. Default: 25. */
  maxIterations?: number | undefined;
  /** In USD. Default: none. */
  maxCost?: number | null | undefined;
  /** In seconds. Default: none. */
  maxTime?: number | null | undefined;
  /** In seconds, for each check. Default: 120. */
  checkTimeout?: number | undefined;
  /**
   * A known agent, a profile in the settings, any command line, or a function of yours. Default: the agent of
   * the settings, else the one that is on PATH.
   */
  agent?: string | FunctionAgent | undefined;
  /** In the agent's own words. */
  model?: string | null | undefined;
  /** Work in a git worktree of its own; a string names it. Default: false. */
  useWorktree?: boolean | string | undefined;
  /** Leave alone what agents and checks leave running. Default: false. */
  keepBackground?: boolean | undefined;
  /** The project. Default: the current folder. */
  workspaceRoot?: string | undefined;
  /** The other limits. */
  limits?: MoreLimits | undefined;
  /** Ends the run as `interrupted`, with the agent or the check at work. */
  signal?: AbortSignal | undefined;
  /** Where records are kept. Default: `$RALPH_HOME`, else `~/.ralph`. */
  home?: string | undefined;
}

type Named = "maxIterations" | "maxCostUsd" | "maxTimeMs";

/** The limits that `ralph loop` has as flags, under the names of the events. */
export type MoreLimits = { [Name in Exclude<keyof Limits, Named>]?: Limits[Name] | undefined };
