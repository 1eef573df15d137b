import { join } from "node:path";
import { z } from "zod";
import type { BaselineCheck, Json } from "../../events.js";
import { saysTag } from "../../verify/done.js";
import { beginning, ending, fenced } from "../../verify/excerpt.js";
import {
  asJson,
  type Failure,
  failureOf,
  failuresIn,
  failureText,
  likeness,
  likenessOf,
  namesOf,
} from "../../verify/failure.js";
import { readTextFile } from "../text-file.js";
import { createProgress } from "./progress.js";
import type { TaskContext, TaskStyle, TaskWork } from "./style.js";

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

/** `ralph loop`: a prompt in sections with all that the agent has to know, and a history of the run. */
export function loopStyle(spec: ChecksSpec, context: TaskContext): TaskStyle {
  const { completionTag: tag, checkTimeoutMs: timeoutMs, specFile } = spec;
  const progress = createProgress(context);
  let known: BaselineCheck[] = [];
  return {
    checksDecide: tag === null,

    async prompt({ iteration, maxIterations, memory, baseline = [] }) {
      known = baseline;
      const isFirst = iteration === 1;
      if (isFirst) progress.begin();
      const task =
        specFile === undefined ? spec.task : readTextFile("spec file", specFile, context.workspace);
      const diff = isFirst ? "" : await diffOf(context);
      const { failures, error } = Memory.parse(memory);
      return iterationPrompt({
        ...{ ...spec, task, iteration, maxIterations, failures, error, diff },
        progress: isFirst ? "" : progress.read(),
      });
    },

    checks: (iteration) =>
      spec.checks.map((command, index) => ({
        command,
        timeoutMs,
        log: join(context.folderFor(iteration), `check-${index + 1}.log`),
      })),

    saysDone: (message) => tag !== null && saysTag(message, tag),

    async *judge(work, { iteration }) {
      const { answer, failed, claimedDone } = work;
      const failures = failed.map(({ event }) => failureOf(event, timeoutMs));
      progress.add(iteration, { ...work, failures, completionTag: tag }, known);
      const memory: Json = { failures: asJson(failures), error: answer.error };
      if (failures.length > 0) {
        const failure = await likeness(failures.map(likenessOf));
        return { passed: false, reason: whichFailed(work, failures), claimedDone, failure, memory };
      }
      const missing = whatIsMissing(work, tag);
      if (missing === undefined)
        return { passed: true, reason: "all checks passed", claimedDone, stop: "all_checks_passed" };
      const reason = `all checks passed, but ${missing}`;
      // An agent that never says it and changes nothing would otherwise use up every iteration.
      return { passed: true, reason, claimedDone, failure: await likeness([reason]), memory };
    },
  };
}

/** All that has changed since the run began; empty where git cannot tell. */
async function diffOf({ workspace, base, hidden, kill }: TaskContext): Promise<string> {
  const { diffSince } = await import("../../workspace/diff.js");
  return (await diffSince(workspace, base, hidden, kill)) ?? "";
}

/** Checks that pass prove nothing of an agent that failed before it was done. */
function whatIsMissing({ answer, claimedDone }: TaskWork, tag: string | null): string | undefined {
  if (answer.error !== null) return "the agent failed";
  if (tag === null || claimedDone) return undefined;
  return `the agent did not say ${tag} (--no-completion-tag lets the checks alone decide)`;
}

function whichFailed({ results, claimedDone }: TaskWork, failures: Failure[]): string {
  const said = claimedDone ? "claimed to be done, but " : "";
  const notRun = results.filter(({ event }) => event.skipped === "after_failure").length;
  const rest = notRun === 0 ? "" : `, ${notRun} not run`;
  return `${said}${failures.length} of ${results.length} checks failed: ${namesOf(failures)}${rest}`;
}

/** What the last iteration left behind for the next prompt; `error`: why the agent failed, if it did. */
const Memory = z
  .object({ failures: z.json().transform(failuresIn), error: z.string().nullable() })
  .catch({ failures: [], error: null });

export interface IterationParts
  extends z.infer<typeof Memory>,
    Pick<ChecksSpec, "task" | "checks" | "completionTag"> {
  iteration: number;
  maxIterations: number;
  /** All that has changed since the run began. */
  diff: string;
  progress: string;
}

const DIFF_CHARS = 5000;
const ERROR_CHARS = 2000;
const PROGRESS_CHARS = 20_000;

/** Everything an agent gets to know: nothing is carried over beside this text and the files. */
export function iterationPrompt(parts: IterationParts): string {
  const sections: Record<string, string> = {
    [`Iteration ${parts.iteration} of ${parts.maxIterations}`]: instructions(parts),
    "Changes so far": diffText(parts.diff),
    "Failed checks": parts.failures.map(failureText).join("\n\n"),
    "Error of the last iteration": ending(parts.error ?? "", ERROR_CHARS).trim(),
    Progress: progressText(parts.progress.trim()),
  };
  const told = Object.entries(sections).filter(([, text]) => text !== "");
  return [parts.task.trim(), "---", ...told.map(([title, text]) => `## ${title}\n\n${text}`)].join("\n\n");
}

function instructions({ iteration, checks, completionTag: tag }: IterationParts): string {
  const earlier = iteration === 1 ? "" : " The work of the earlier iterations is in the files.";
  const howToSayDone = `Only if the whole task is done and the checks pass, end your final message with ${tag} on a line of its own. If something is left to do, do not write ${tag}.`;
  return [
    `You start with a clean context.${earlier}`,
    "When you have finished, these checks are run. All of them must pass (exit code 0):",
    checks.map((check) => `- ${check.trim().replaceAll("\n", "\n  ")}`).join("\n"),
    ...(tag === null ? [] : [howToSayDone]),
  ].join("\n\n");
}

function diffText(diff: string): string {
  if (diff.trim() === "") return "";
  const shown =
    diff.length <= DIFF_CHARS ? diff.trimEnd() : `${beginning(diff, DIFF_CHARS)}\n... [truncated]`;
  return `What differs from the commit that the run started from, new files included:\n\n${fenced(shown, "diff")}`;
}

/** The latest iterations are worth more than the first ones. */
function progressText(progress: string): string {
  if (progress === "") return "";
  const shown = ending(progress, PROGRESS_CHARS);
  const whole = shown === progress ? 0 : Math.max(0, shown.search(/^## Iteration /m));
  return fenced(whole === 0 ? shown : `[...]\n\n${shown.slice(whole)}`, "markdown");
}
