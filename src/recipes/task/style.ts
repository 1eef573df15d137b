import type { LoopEventBody } from "../../events.js";
import type { Answer, PlanContext, Verdict, VerifyContext } from "../../loop/recipe.js";
import type { Check, CheckResult } from "../../verify/check.js";
import type { ChecksSetup } from "../../verify/schedule.js";
import type { RecipeContext } from "../row.js";

/** What the two styles need of it. */
export type TaskContext = ChecksSetup &
  Pick<
    RecipeContext,
    "records" | "folderFor" | "base" | "hidden" | "kill" | "askForCommitMessage" | "newPrograms"
  >;

/** What differs between `ralph run` and `ralph loop`: how the task is worded, and what the results mean. */
export interface TaskStyle {
  /** Whether the checks decide something also where the agent does not say that it is done. */
  checksDecide: boolean;
  prompt(context: PlanContext): Promise<string>;
  checks(iteration: number): Check[];
  saysDone(finalMessage: string): boolean;
  judge(work: TaskWork, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined>;
}

/** An answer, and what the checks say of it. */
export interface TaskWork {
  answer: Answer;
  results: CheckResult[];
  /** Those of them that failed. */
  failed: CheckResult[];
  claimedDone: boolean;
}
