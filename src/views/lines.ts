import { becameOf } from "../baseline.js";
import { formatDuration } from "../duration.js";
import type {
  AgentFinished,
  AgentSaid,
  AgentStarted,
  BackoffStarted,
  BaselineCheck,
  BaselineFinished,
  CheckFinished,
  CheckStarted,
  IterationFinished,
  IterationStarted,
  LimitWaiting,
  LoopEvent,
  RunStarted,
  StateChanged,
  Violation,
} from "../events.js";
import { createAskedLines } from "./asked-lines.js";
import { skippedWords } from "./checks.js";
import { endingOf, formatCost, formatCount, formatStatistics } from "./figures.js";
import type { Formatter } from "./format.js";
import { brief, firstLine, harmless, harmlessLine } from "./harmless.js";
import { localMoment } from "./local-moment.js";
import { createPipelineLines } from "./pipeline-lines.js";

/** What one iteration has come to so far, for the line that closes it. */
interface Tally {
  maxIterations: number;
  agent: string;
  /** What a check is called here; a run that goes on does not tell its recipe. */
  check: string;
  tools: number;
  errors: number;
  checks: CheckFinished[];
  /** Where the checks stood before the first iteration, and now. */
  baseline: BaselineCheck[];
  costUsd: number | null;
}

/** Turns events into the lines that people read. */
export function createLines(format: Formatter, showAgent: boolean): (event: LoopEvent) => string[] {
  const tally: Tally = {
    maxIterations: 0,
    agent: "",
    check: "Check",
    tools: 0,
    errors: 0,
    checks: [],
    baseline: [],
    costUsd: null,
  };
  const askedLines = createAskedLines(format);
  const pipelineLines = createPipelineLines(format);
  return (event) => {
    if (event.type === "iteration.started")
      Object.assign(tally, { tools: 0, errors: 0, checks: [], costUsd: null });
    return [...askedLines(event), ...(pipelineLines(event) ?? linesOf(event, tally, format, showAgent))];
  };
}

function linesOf(event: LoopEvent, tally: Tally, format: Formatter, showAgent: boolean): string[] {
  switch (event.type) {
    case "run.started":
      tally.maxIterations = event.limits.maxIterations;
      if (event.recipe === "prompt") tally.check = "Guardrail";
      return format.paragraph(opening(event));
    case "run.resumed":
      Object.assign(tally, {
        agent: event.agent,
        maxIterations: event.limits?.maxIterations ?? tally.maxIterations,
        baseline: event.baseline ?? tally.baseline,
      });
      return [`Resumed after ${plural(event.iterations, "iteration")}.`];
    case "run.paused":
      return [
        `Paused after ${plural(event.iterations, "iteration")}. Continue with: ralph resume ${event.run}`,
      ];
    case "iteration.started":
      return iterationStarted(event, tally, format);
    case "agent.started":
      return agentStarted(event, tally);
    case "agent.event":
      return agentSaid(event, tally, showAgent ? format : undefined);
    case "agent.finished":
      return agentFinished(event, tally, format);
    case "check.started":
      return checkStarted(event, tally);
    case "check.finished":
      return checkFinished(event, tally, format);
    case "baseline.finished":
      tally.baseline = event.checks;
      return format.paragraph(baselineLine(event));
    case "scm.asked":
      return [];
    case "scm.finished":
      return event.passed
        ? [`${format.mark.ok} SCM ${event.task}: ${harmless(firstLine(event.message))}`]
        : [];
    case "state.changed":
      return [stateChanged(event, format)];
    case "violation":
      return violated(event, format);
    case "locks.removed":
      return format.paragraph(
        `${format.mark.warning} Removed what a dead git left: ${harmlessLine(event.files.join(", "))}`,
        "yellow",
      );
    case "backoff.started":
      return [backoff(event)];
    case "limit.waiting":
      return waiting(event, format);
    case "iteration.finished":
      return iterationFinished(event, tally, format);
    case "gate.finished":
    case "run.finished":
      return [];
  }
}

function opening({ run, agent, credentials, limits, background }: LoopEvent & RunStarted): string {
  const { maxIterations, maxCostUsd, maxTokens, maxTimeMs } = limits;
  return [
    `Run ${run}`,
    credentials === null ? agent : `${agent} (billed to ${credentials})`,
    `at most ${plural(maxIterations, "iteration")}`,
    ...(maxCostUsd === null ? [] : [formatCost(maxCostUsd)]),
    ...(maxTokens === null ? [] : [`${formatCount(maxTokens)} tokens`]),
    ...(maxTimeMs === null ? [] : [formatDuration(maxTimeMs)]),
    ...(background === undefined ? [] : ["background kept"]),
  ].join(" · ");
}

function iterationStarted(
  { iteration, mode, changed = [] }: IterationStarted,
  tally: Tally,
  { paint }: Formatter,
): string[] {
  const title = paint(
    "bold",
    `--- Iteration ${iteration}/${tally.maxIterations}${mode ? ` (${mode})` : ""} ---`,
  );
  if (changed.length === 0) return [title];
  return [title, `You have changed ${harmless(changed.join(", "))}: the run goes on from there.`];
}

function agentStarted({ agent, attempt }: AgentStarted, tally: Tally): string[] {
  tally.agent = agent;
  return attempt > 1 ? [`Empty answer: asking again (attempt ${attempt})`] : [];
}

function agentSaid({ event }: AgentSaid, tally: Tally, format: Formatter | undefined): string[] {
  if (event.type === "tool_start") tally.tools += 1;
  if (event.type === "tool_end" && event.isError) tally.errors += 1;
  return format?.event(event) ?? [];
}

function agentFinished(event: AgentFinished, tally: Tally, { paragraph, mark, flush }: Formatter): string[] {
  if (event.costUsd !== null) tally.costUsd = (tally.costUsd ?? 0) + event.costUsd;
  const statistics = formatStatistics({ ...event, tools: tally.tools, errors: tally.errors });
  const left = leftRunning(event).flatMap((text) => paragraph(text, "dim"));
  if (event.error === null)
    return [...flush(), ...paragraph(`${mark.ok} Complete (${statistics})`, "green"), ...left];
  const failed = `${mark.error} Failed: ${harmless(firstLine(event.error))} (${statistics})`;
  return [...flush(), ...paragraph(failed, "red"), ...left];
}

function leftRunning({ left }: Pick<AgentFinished, "left">): string[] {
  if (left === undefined) return [];
  const what = left === 1 ? "a process that was" : `${left} processes that were`;
  return [`Ended ${what} left running (--keep-background leaves them)`];
}

function checkStarted({ iteration, command, again, place }: CheckStarted, tally: Tally): string[] {
  const when = iteration === 0 ? " before the first iteration" : "";
  const isSecond = again !== undefined && place === 1;
  if (isSecond) tally.checks = [];
  return [
    ...(isSecond ? [`The checks run again: ${harmlessLine(again)}`] : []),
    `${tally.check}${when}: ${harmless(command)}`,
  ];
}

function checkFinished(event: CheckFinished, tally: Tally, format: Formatter): string[] {
  const { paint, paragraph, mark } = format;
  tally.checks.push(event);
  // Where several run at the same time, or none was started, the line above may be about another one.
  const which =
    event.place === undefined && event.skipped === undefined ? "" : `${harmlessLine(event.command)}: `;
  if (event.skipped !== undefined) return paragraph(`${which}${skippedWords(event.skipped)}`, "dim");
  const known = event.iteration === 0 ? undefined : becameOf(event, tally.baseline);
  const time = `${formatDuration(event.durationMs)}${known === undefined ? "" : `, ${known}`}`;
  if (event.passed)
    return [
      paint("green", `${mark.ok} ${which}Passed (exit ${event.exitCode ?? 0}, ${time})`),
      ...leftRunning(event),
    ];
  const action = event.failAction === undefined ? "" : ` ${mark.to} ${event.failAction}`;
  return [
    ...paragraph(
      `${mark.error} ${which}Failed (${endingOf(event)}, ${time})${action} (log: ${event.log})`,
      "red",
    ),
    ...format.ending(event.output),
    ...leftRunning(event),
  ];
}

function baselineLine({ checks }: BaselineFinished): string {
  const failed = checks.filter(({ before }) => !before).map(({ command }) => brief(command));
  const all = plural(checks.length, "check");
  if (failed.length === 0) return `Baseline: ${checks.length === 1 ? all : `all ${all}`} passed`;
  return `Baseline: ${failed.length} of ${all} failed before: ${failed.join(", ")}`;
}

function stateChanged(
  { story = "", title = "", from, to, atCap }: StateChanged,
  { mark }: Formatter,
): string {
  const cap = atCap ? " (at the review cap)" : "";
  const sign = to === "changes_requested" ? mark.warning : mark.ok;
  return `${sign} ${harmlessLine(`${story} ${title}`.trim())}: ${from} ${mark.to} ${to}${cap}`;
}

function violated({ what }: Violation, { mark, paragraph }: Formatter): string[] {
  return paragraph(`${mark.warning} Violation: ${harmlessLine(what)}`, "yellow");
}

function backoff({ iteration, seconds, attempt, maxAttempts }: BackoffStarted): string {
  return `Iteration ${iteration} failed, retrying in ${seconds}s (attempt ${attempt}/${maxAttempts})`;
}

function waiting(event: LoopEvent & LimitWaiting, { mark, paragraph }: Formatter): string[] {
  const left = formatDuration(Math.max(0, Date.parse(event.until) - Date.parse(event.ts)));
  const when = `waiting until ${localMoment(event.until, event.ts)} (${left})`;
  const what = event.stated ? "" : ", nobody told how long it lasts";
  return paragraph(`${mark.warning} The usage limit of ${event.agent} is reached: ${when}${what}`, "yellow");
}

function iterationFinished(event: IterationFinished, tally: Tally, { paragraph }: Formatter): string[] {
  const { checks, costUsd, agent, maxIterations } = tally;
  const parts = [
    `Iteration ${event.iteration}/${maxIterations}`,
    agent,
    formatDuration(event.durationMs),
    ...(costUsd === null ? [] : [formatCost(costUsd)]),
    ...(checks.length === 0 ? [] : [checksWords(checks)]),
    brief(event.reason),
  ];
  return [...paragraph(parts.join(" · "), "dim"), ""];
}

function checksWords(checks: CheckFinished[]): string {
  const passed = checks.filter((check) => check.passed).length;
  const skipped = checks.filter((check) => check.skipped !== undefined).length;
  return `${passed}/${checks.length} checks passed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
