import type { BaselineCheck, LoopEventBody } from "../../events.js";
import {
  type Answer,
  deciding,
  type PlanContext,
  type Recipe,
  type Verdict,
  type VerifyContext,
} from "../../loop/recipe.js";
import type { Redact } from "../../records/redact.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import type { CheckContext } from "../../verify/checks.js";
import { runChecks } from "../../verify/run-checks.js";
import type { Schedule } from "../../verify/schedule.js";
import { saysTag } from "../../verify/tag.js";
import { readTextFile } from "../text-file.js";
import { lastTime } from "./memory.js";
import { createProgress } from "./progress.js";
import { iterationPrompt } from "./prompt.js";
import { judge, verdictOf } from "./verdict.js";

export interface ChecksSpec {
  kind: "checks";
  /** What to do; a spec file takes its place. */
  task: string;
  specFile?: string | undefined;
  checks: string[];
  checkTimeoutMs: number;
  /** What the agent must say when it is done; null: the checks alone decide. */
  completionTag: string | null;
}

export interface ChecksContext {
  workspace: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  schedule?: Schedule | undefined;
  /** What a check leaves running is left alone. */
  keepBackground?: boolean | undefined;
  /** Where checks run, if they are shut in. */
  sandbox?: Sandbox | undefined;
  /** Asked after each check: why it does not count. */
  spoiled?: CheckContext["spoiled"];
  /** Folder of the run, for the progress that belongs to it. */
  records: string;
  /** Folder for the logs of an iteration. */
  folderFor(iteration: number): string;
  /** All that has changed since the run began; undefined where that cannot be told. */
  diff(): Promise<string | undefined>;
}

/** Asks for a task until every check passes and the agent says that it is done. */
export function checksRecipe(spec: ChecksSpec, context: ChecksContext): Recipe {
  const progress = createProgress(context);
  let known: BaselineCheck[] = [];
  return {
    name: "checks",
    verifies: true,

    async plan({ iteration, maxIterations, memory, baseline = [] }: PlanContext) {
      known = baseline;
      const parts = { ...spec, task: taskOf(spec, context), iteration, maxIterations, ...lastTime(memory) };
      if (iteration > 1) {
        return {
          prompt: iterationPrompt({ ...parts, diff: await context.diff(), progress: progress.read() }),
        };
      }
      progress.begin();
      return { prompt: iterationPrompt({ ...parts, diff: undefined, progress: "" }) };
    },

    baseline: (before: VerifyContext) => runChecks(spec, context, before),

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const { completionTag } = spec;
      const decides = completionTag === null || saysTag(answer.finalMessage, completionTag);
      const results = yield* runChecks(spec, context, deciding(verify, decides));
      if (results === undefined) return undefined;
      const judged = judge(answer, results, spec);
      progress.add(verify.iteration, judged, known);
      return verdictOf(judged);
    },
  };
}

function taskOf({ task, specFile }: ChecksSpec, { workspace }: ChecksContext): string {
  return specFile === undefined ? task : readTextFile("spec file", specFile, workspace);
}
