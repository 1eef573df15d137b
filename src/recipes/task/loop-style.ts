import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { formatDuration } from "../../duration.js";
import { orElse } from "../../errors.js";
import type { BaselineCheck, CheckFinished, Json } from "../../events.js";
import { has, writeAtomic, writeFresh } from "../../records/files.js";
import { becameOf } from "../../records/result.js";
import type { CheckResult } from "../../verify/check.js";
import { saysTag } from "../../verify/done.js";
import { beginning, ending, fenced, firstFailure, oneLine } from "../../verify/excerpt.js";
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
import { isOwnFolder, prepareRuntimeFolder, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import { checkList, type TaskCheck } from "../checks.js";
import { howToAsk, howToSayDone, readTextFile } from "../prompt.js";
import type { TaskContext, TaskStyle, TaskWork } from "./run-style.js";

export interface ChecksSpec {
  kind: "checks";
  task: string;
  specFile?: string | undefined;
  checks: TaskCheck[];
  /** What the agent must say when it is done; null: the checks alone decide. */
  completionTag: string | null;
  /** false: the prompt does not say how to end. */
  doneInstruction?: false;
}

/** `ralph loop`: a prompt in sections with all that the agent has to know, and a history of the run. */
export function loopStyle(spec: ChecksSpec, context: TaskContext): TaskStyle {
  const { completionTag: tag, specFile } = spec;
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
      const { diffSince } = await import("../../workspace/changes.js");
      const { workspace, base, hidden, kill } = context;
      // Empty where git cannot tell.
      const diff = isFirst ? "" : ((await diffSince({ workspace, base, hidden, stop: kill })) ?? "");
      const { failures, error } = leftIn(memory);
      return iterationPrompt({
        ...{ ...spec, task, iteration, maxIterations, failures, error, diff },
        progress: isFirst ? "" : progress.read(),
      });
    },

    checks: (iteration) =>
      spec.checks.map((check, index) => ({
        ...check,
        log: join(context.folderFor(iteration), `check-${index + 1}.log`),
      })),

    saysDone: (message) => tag !== null && saysTag(message, tag),

    async *judge(work, { iteration }) {
      const { answer, results, failed, claimedDone } = work;
      const failures = failed.map(failureOf);
      progress.add(iteration, { ...work, failures, completionTag: tag }, known);
      const memory: Json = { failures: asJson(failures), error: answer.error };
      if (failures.length > 0) {
        const said = claimedDone ? "claimed to be done, but " : "";
        const notRun = results.filter(({ event }) => event.skipped === "after_failure").length;
        const rest = notRun === 0 ? "" : `, ${notRun} not run`;
        const names = `${namesOf(failures)}${rest}`;
        const reason = `${said}${failures.length} of ${results.length} checks failed: ${names}`;
        const failure = await likeness(failures.map(likenessOf));
        return { passed: false, reason, claimedDone, failure, memory };
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

/** Checks that pass prove nothing of an agent that failed before it was done. */
function whatIsMissing({ answer, claimedDone }: TaskWork, tag: string | null): string | undefined {
  if (answer.error !== null) return "the agent failed";
  if (tag === null || claimedDone) return undefined;
  return `the agent did not say ${tag} (--no-completion-tag lets the checks alone decide)`;
}

/** What the last iteration left behind for the next prompt; `error`: why the agent failed, if it did. */
interface LastFailures {
  failures: Failure[];
  error: string | null;
}

function leftIn(memory: Json | undefined): LastFailures {
  if (!has(memory, { error: "string?" })) return { failures: [], error: null };
  return { failures: failuresIn(memory["failures"] as Json), error: memory["error"] as string | null };
}

export interface IterationParts
  extends LastFailures,
    Pick<ChecksSpec, "task" | "checks" | "completionTag" | "doneInstruction"> {
  iteration: number;
  maxIterations: number;
  diff: string;
  progress: string;
}

const DIFF = "What differs from the commit that the run started from, new files included:";
const DIFF_CHARS = 5000;
const ERROR_CHARS = 2000;
const PROGRESS_CHARS = 20_000;

/** Everything an agent gets to know: nothing is carried over beside this text and the files. */
export function iterationPrompt(parts: IterationParts): string {
  const progress = parts.progress.trim();
  const diff = parts.diff.length <= DIFF_CHARS ? parts.diff.trimEnd() : beginning(parts.diff, DIFF_CHARS);
  const cut = parts.diff.length <= DIFF_CHARS ? "" : "\n... [truncated]";
  const sections: Record<string, string> = {
    [`Iteration ${parts.iteration} of ${parts.maxIterations}`]: instructions(parts),
    "Changes so far": diff.trim() === "" ? "" : `${DIFF}\n\n${fenced(`${diff}${cut}`, "diff")}`,
    "Failed checks": parts.failures.map(failureText).join("\n\n"),
    "Error of the last iteration": ending(parts.error ?? "", ERROR_CHARS).trim(),
    Progress: progress === "" ? "" : progressText(progress),
  };
  const told = Object.entries(sections).filter(([, text]) => text !== "");
  return [parts.task.trim(), "---", ...told.map(([title, text]) => `## ${title}\n\n${text}`)].join("\n\n");
}

function instructions(parts: IterationParts): string {
  const { iteration, checks, completionTag: tag, task, doneInstruction = true } = parts;
  const earlier = iteration === 1 ? "" : " The files contain the work of earlier iterations.";
  return [
    `You start with a fresh context.${earlier}`,
    "When you have finished, ralph runs these checks. All of them must pass (exit code 0):",
    checkList(checks),
    ...(doneInstruction && tag !== null ? [howToSayDone(tag, true)] : []),
    ...(doneInstruction ? howToAsk(task) : []),
  ].join("\n\n");
}

/** The latest iterations are worth more than the first ones. */
function progressText(progress: string): string {
  const shown = ending(progress, PROGRESS_CHARS);
  const whole = shown === progress ? 0 : Math.max(0, shown.search(/^## Iteration /m));
  return fenced(whole === 0 ? shown : `[...]\n\n${shown.slice(whole)}`, "markdown");
}

export const PROGRESS_FILE = join(RUNTIME_FOLDER, "progress.md");

export interface ProgressEntry extends Omit<TaskWork, "results" | "failed"> {
  results: Pick<CheckResult, "event">[];
  failures: Failure[];
  completionTag: string | null;
}

/** The history of a run. The one in the records counts; agents read, and write, the copy in the project. */
export function createProgress(context: Pick<TaskContext, "records" | "workspace" | "redact">) {
  const { records, workspace, redact } = context;
  const own = join(records, "progress.md");
  const copy = join(workspace, PROGRESS_FILE);
  const read = (): string => (existsSync(own) ? readFileSync(own, "utf8") : "");
  return {
    read,
    /** A run does not go on with the progress of another one. */
    begin(): void {
      rmSync(own, { force: true });
      if (isOwnFolder(workspace)) orElse(() => rmSync(copy, { force: true }), undefined);
    },
    add(iteration: number, entry: ProgressEntry, baseline: BaselineCheck[] = []): void {
      // After a crash an iteration is run again: its first try does not count.
      const before = read().split(new RegExp(`^## Iteration ${iteration} `, "m"), 1)[0] ?? "";
      const text = `${before}${redact(section(iteration, entry, baseline))}`;
      writeAtomic(own, text);
      prepareRuntimeFolder(workspace);
      // An agent can have put anything in the place of the copy, such as a folder; nothing depends on it.
      if (isOwnFolder(workspace)) orElse(() => writeFresh(copy, text), undefined);
    },
  };
}

const LINE_CHARS = 200;

function section(iteration: number, entry: ProgressEntry, baseline: BaselineCheck[]): string {
  const { answer, results, failures } = entry;
  const passed = answer.error === null && failures.length === 0;
  const durationMs = results.reduce((sum, { event }) => sum + event.durationMs, answer.durationMs);
  const failed = failures.values();
  return `${[
    `## Iteration ${iteration} — ${passed ? "PASS" : "FAIL"}`,
    `- Steps: ${answer.steps}`,
    `- Cost: ${answer.costUsd === null ? "unknown" : `$${answer.costUsd.toFixed(4)}`}`,
    `- Duration: ${formatDuration(durationMs)}`,
    "- Checks:",
    ...results.map(({ event }) => checkLine(event, failed, becameOf(event, baseline))),
    ...tagLines(entry),
    ...(answer.error === null ? [] : [`- Error: ${oneLine(answer.error, LINE_CHARS)}`]),
  ].join("\n")}\n\n`;
}

/** Said only where it tells something: that a check failed says enough by itself. */
function tagLines({ answer, failures, completionTag, claimedDone }: ProgressEntry): string[] {
  if (claimedDone) return failures.length === 0 ? [] : ["- Completion tag: found, but checks failed"];
  if (completionTag === null || answer.error !== null || failures.length > 0) return [];
  return [`- Completion tag: not found (${completionTag} on a line of its own in the final message)`];
}

function checkLine(
  { command, passed, skipped }: CheckFinished,
  failed: Iterator<Failure>,
  became: string | undefined,
): string {
  const name = `  - ${oneLine(command, LINE_CHARS)}`;
  if (skipped !== undefined) return `${name}: ${SKIPPED[skipped]}`;
  const since = became === undefined ? "" : ` (${became})`;
  return `${name}${since}: ${passed ? "PASS" : `FAIL — ${whatHappened(failed.next().value)}`}`;
}

const SKIPPED = {
  unchanged: "PASS (not run again: its inputs are unchanged)",
  after_failure: "not run (another check failed first)",
  untrusted: "not run (an agent added it)",
} satisfies Record<NonNullable<CheckFinished["skipped"]>, string>;

/** The line of the output that tells most, unless the check did not come to an end by itself. */
function whatHappened({ how, output }: Failure): string {
  const telling = firstFailure(output) ?? output.trimEnd().split("\n").at(-1)?.trim();
  return !telling || !/^exit code (?!127)/.test(how) ? how : oneLine(telling, LINE_CHARS);
}
