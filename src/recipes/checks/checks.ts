import type { CheckFinished, LoopEventBody } from "../../events.js";
import type { Redact } from "../../state/redact.js";
import { oneLine } from "../../verify/excerpt.js";
import { likeness } from "../../verify/likeness.js";
import { saysTag } from "../../verify/tag.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "../recipe.js";
import { readTextFile } from "../text-file.js";
import { type Failure, failureOf } from "./failure.js";
import { lastTime, remember } from "./memory.js";
import { createProgress } from "./progress.js";
import { iterationPrompt } from "./prompt.js";
import { runChecks } from "./run-checks.js";

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
  return {
    name: "checks",
    verifies: true,

    async plan({ iteration, maxIterations, memory }: PlanContext) {
      const parts = { ...spec, task: taskOf(spec, context), iteration, maxIterations, ...lastTime(memory) };
      if (iteration > 1) {
        return {
          prompt: iterationPrompt({ ...parts, diff: await context.diff(), progress: progress.read() }),
        };
      }
      progress.begin();
      return { prompt: iterationPrompt({ ...parts, diff: undefined, progress: "" }) };
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const results = yield* runChecks(spec, context, verify);
      if (results === undefined) return undefined;
      const judged = judge(answer, results, spec);
      progress.add(verify.iteration, judged);
      return verdictOf(judged, spec);
    },
  };
}

function taskOf({ task, specFile }: ChecksSpec, { workspace }: ChecksContext): string {
  return specFile === undefined ? task : readTextFile("spec file", specFile, workspace);
}

/** What came of an iteration. */
export interface Judged {
  answer: Answer;
  results: CheckFinished[];
  failures: Failure[];
  completionTag: string | null;
  claimedDone: boolean;
}

function judge(answer: Answer, results: CheckFinished[], spec: ChecksSpec): Judged {
  const { completionTag, checkTimeoutMs } = spec;
  const failures = results.filter(({ passed }) => !passed).map((check) => failureOf(check, checkTimeoutMs));
  const claimedDone = completionTag !== null && saysTag(answer.finalMessage, completionTag);
  return { answer, results, failures, completionTag, claimedDone };
}

async function verdictOf(judged: Judged, { completionTag }: ChecksSpec): Promise<Verdict> {
  const { answer, failures, claimedDone } = judged;
  const memory = remember(failures, answer.error);
  if (failures.length > 0) {
    const failure = await likeness(failures.map((each) => `${each.command}\n${each.how}\n${each.output}`));
    return { passed: false, reason: reasonOf(judged), claimedDone, failure, memory };
  }
  if (answer.error === null && (claimedDone || completionTag === null)) {
    return { passed: true, reason: "all checks passed", claimedDone, stop: "all_checks_passed" };
  }
  const reason = `all checks passed, the agent did not say ${completionTag}`;
  return { passed: true, reason, claimedDone, memory };
}

/** How it failed is worth more than the end of a long command. */
const COMMAND_CHARS = 40;

function reasonOf({ failures, results, claimedDone }: Judged): string {
  const which = failures.map(({ command, how }) => `${oneLine(command, COMMAND_CHARS)} (${how})`).join(", ");
  const said = claimedDone ? "claimed to be done, but " : "";
  return `${said}${failures.length} of ${results.length} checks failed: ${which}`;
}
