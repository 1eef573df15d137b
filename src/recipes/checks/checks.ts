import { join } from "node:path";
import type { CheckFinished, Json, LoopEventBody } from "../../events.js";
import type { Redact } from "../../state/redact.js";
import { type CheckResult, runCheck } from "../../verify/checks.js";
import { likeness } from "../../verify/likeness.js";
import { saysTag } from "../../verify/tag.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "../recipe.js";
import { readTextFile } from "../text-file.js";
import { createProgress } from "./progress.js";
import { type Failure, howItFailed, iterationPrompt } from "./prompt.js";

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

/** How much of a failed check the next prompt holds, from its end. */
const OUTPUT_CHARS = 2000;

/** Asks for a task until every check passes and the agent says that it is done. */
export function checksRecipe(spec: ChecksSpec, context: ChecksContext): Recipe {
  const progress = createProgress(context.records, context.workspace);
  const { completionTag } = spec;
  return {
    name: "checks",
    verifies: true,

    async plan({ iteration, maxIterations, memory }: PlanContext) {
      if (iteration === 1) progress.begin();
      const isFirst = iteration === 1;
      return {
        prompt: iterationPrompt({
          ...spec,
          task:
            spec.specFile === undefined
              ? spec.task
              : readTextFile("spec file", spec.specFile, context.workspace),
          iteration,
          maxIterations,
          diff: isFirst ? undefined : await context.diff(),
          progress: isFirst ? "" : progress.read(),
          ...lastTime(memory),
        }),
      };
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const results = yield* runChecks(spec, context, verify);
      if (results === undefined) return undefined;
      const claimedDone = completionTag === null || saysTag(answer.finalMessage, completionTag);
      const failed = results.filter(({ passed }) => !passed);
      progress.add(verify.iteration, { answer, results, isTagMissing: failed.length === 0 && !claimedDone });
      const memory = remember(failed, answer.error);
      if (failed.length > 0) {
        const failure = await likeness(failed.map(({ command, output }) => `${command}\n${output}`));
        return {
          passed: false,
          reason: reasonOf(failed, results, claimedDone),
          claimedDone,
          failure,
          memory,
        };
      }
      if (answer.error === null && claimedDone) {
        return { passed: true, reason: "all checks passed", claimedDone, stop: "all_checks_passed" };
      }
      const reason = `all checks passed, the agent did not say ${completionTag}`;
      return { passed: true, reason, claimedDone, memory };
    },
  };
}

/** All of them, also after one failed. undefined: a signal came before the last one. */
async function* runChecks(
  { checks, checkTimeoutMs }: ChecksSpec,
  context: ChecksContext,
  { iteration, stop, kill }: VerifyContext,
): AsyncGenerator<LoopEventBody, CheckFinished[] | undefined> {
  const results: CheckFinished[] = [];
  for (const [index, command] of checks.entries()) {
    if (stop.aborted) return undefined;
    const log = join(context.folderFor(iteration), `check-${index + 1}.log`);
    yield { type: "check.started", iteration, command };
    const result = await runCheck(
      { command, timeoutMs: checkTimeoutMs },
      { ...context, kill, log, keep: { chars: OUTPUT_CHARS, from: "end" } },
    );
    const finished = checkFinished(iteration, command, log, result);
    yield finished;
    results.push(finished);
  }
  return kill.aborted ? undefined : results;
}

function checkFinished(iteration: number, command: string, log: string, result: CheckResult): CheckFinished {
  const { exitCode, signal, timedOut, passed, output, logError } = result;
  return {
    type: "check.finished",
    iteration,
    command,
    exitCode,
    signal,
    timedOut,
    passed,
    durationMs: Math.round(result.durationMs),
    log,
    output,
    ...(logError !== undefined && { logError }),
  };
}

function reasonOf(failed: CheckFinished[], all: CheckFinished[], claimedDone: boolean): string {
  const which = failed.map((check) => `${check.command} (${howItFailed(check)})`).join(", ");
  const said = claimedDone ? "claimed to be done, but " : "";
  return `${said}${failed.length} of ${all.length} checks failed: ${which}`;
}

function remember(failed: CheckFinished[], error: string | null): Json {
  return {
    failures: failed.map((check) => ({
      command: check.command,
      how: howItFailed(check),
      output: check.output,
    })),
    error,
  };
}

/** What the last iteration left behind. It is read from the journal, so it is looked at before it is told. */
function lastTime(memory: Json | undefined): { failures: Failure[]; error: string | null } {
  if (typeof memory !== "object" || memory === null || Array.isArray(memory))
    return { failures: [], error: null };
  const { failures, error } = memory;
  return {
    failures: Array.isArray(failures) ? (failures as unknown[]).filter(isFailure) : [],
    error: typeof error === "string" ? error : null,
  };
}

function isFailure(value: unknown): value is Failure {
  if (typeof value !== "object" || value === null) return false;
  return ["command", "how", "output"].every(
    (key) => typeof (value as Record<string, unknown>)[key] === "string",
  );
}
