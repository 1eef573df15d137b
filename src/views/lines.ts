import { becameOf } from "../baseline.js";
import { formatDuration } from "../duration.js";
import type {
  AgentFinished,
  AgentStarted,
  BaselineFinished,
  CheckFinished,
  CheckStarted,
  IterationFinished,
  IterationStarted,
  LimitWaiting,
  LoopEvent,
  RunStarted,
  StateChanged,
} from "../events.js";
import { ESCALATED } from "../records/limited.js";
import type { RunState } from "../records/run-state.js";
import type { ConsoleFormatter } from "./agent-lines.js";
import {
  endingOf,
  formatCost,
  formatCount,
  formatStatistics,
  localMoment,
  plural,
  skippedWords,
} from "./figures.js";
import { brief, firstLine, harmless, harmlessLine } from "./harmless.js";
import { pipelineLines } from "./pipeline-lines.js";

type State = Readonly<RunState>;

/** The lines of an event that people read. */
export function linesOf(
  event: LoopEvent,
  state: State,
  format: ConsoleFormatter,
  showAgent: boolean,
): string[] {
  if (event.type === "agent.event") return showAgent ? format.event(event.event) : [];
  const others = event.type === "agent.started" ? whoIsAsked(event, state, format) : [];
  const own = state.retries === undefined ? undefined : pipelineLines(event, state, format);
  return [...others, ...(own ?? commonLines(event, state, format))];
}

/** Says who is asked, where it is not the agent that was asked before. */
function whoIsAsked(event: AgentStarted, { strongerCalls }: State, format: ConsoleFormatter): string[] {
  const { agent, role, insteadOf, attempt } = event;
  const isFirst = role === ESCALATED && strongerCalls === 1;
  if (attempt > 1 || (insteadOf === undefined && !isFirst)) return [];
  const why = insteadOf === undefined ? "The run is stuck" : `${harmlessLine(insteadOf)} is limited or down`;
  return format.paragraph(`${format.mark.warning} ${why}: asking ${harmlessLine(agent)}`, "yellow");
}

function commonLines(event: LoopEvent, state: State, format: ConsoleFormatter): string[] {
  const { mark, paragraph } = format;
  switch (event.type) {
    case "run.started":
      return paragraph(opening(event));
    case "run.resumed":
      return [`Resumed after ${plural(event.iterations, "iteration")}.`];
    case "run.paused":
      return [
        `Paused after ${plural(event.iterations, "iteration")}. Continue with: ralph resume ${event.run}`,
      ];
    case "iteration.started":
      return iterationStarted(event, state, format);
    case "agent.started":
      return event.attempt > 1 ? [`Empty answer: asking again (attempt ${event.attempt})`] : [];
    case "agent.finished":
      return agentFinished(event, state, format);
    case "check.started":
      return checkStarted(event, state);
    case "check.finished":
      return checkFinished(event, state, format);
    case "baseline.finished":
      return paragraph(baselineLine(event));
    case "scm.finished":
      return event.passed ? [`${mark.ok} SCM ${event.task}: ${harmless(firstLine(event.message))}`] : [];
    case "state.changed":
      return [stateChanged(event, format)];
    case "violation":
      return paragraph(`${mark.warning} Violation: ${harmlessLine(event.what)}`, "yellow");
    case "locks.removed": {
      const files = harmlessLine(event.files.join(", "));
      return paragraph(`${mark.warning} Removed what a dead git left: ${files}`, "yellow");
    }
    case "backoff.started": {
      const { iteration, seconds, attempt, maxAttempts } = event;
      return [`Iteration ${iteration} failed, retrying in ${seconds}s (attempt ${attempt}/${maxAttempts})`];
    }
    case "limit.waiting":
      return waiting(event, format);
    case "iteration.finished":
      return iterationFinished(event, state, format);
    case "agent.event":
    case "scm.asked":
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

/** `Iteration 3/10` */
function numbered(iteration: number, { limits }: State): string {
  return `Iteration ${iteration}/${limits?.maxIterations ?? 0}`;
}

function iterationStarted(
  { iteration, mode, changed = [] }: IterationStarted,
  state: State,
  { paint }: ConsoleFormatter,
): string[] {
  const title = paint("bold", `--- ${numbered(iteration, state)}${mode ? ` (${mode})` : ""} ---`);
  if (changed.length === 0) return [title];
  return [title, `You have changed ${harmless(changed.join(", "))}: the run goes on from there.`];
}

function agentFinished(event: AgentFinished, { iteration }: State, format: ConsoleFormatter): string[] {
  const { paragraph, mark, flush } = format;
  const { tools = 0, toolErrors: errors = 0 } = iteration ?? {};
  const statistics = formatStatistics({ ...event, tools, errors });
  const done =
    event.error === null
      ? paragraph(`${mark.ok} Complete (${statistics})`, "green")
      : paragraph(`${mark.error} Failed: ${harmless(firstLine(event.error))} (${statistics})`, "red");
  return [...flush(), ...done, ...leftRunning(event).flatMap((text) => paragraph(text, "dim"))];
}

function leftRunning({ left }: Pick<AgentFinished, "left">): string[] {
  if (left === undefined) return [];
  const what = left === 1 ? "a process that was" : `${left} processes that were`;
  return [`Ended ${what} left running (--keep-background leaves them)`];
}

function checkStarted({ iteration, command, again, place }: CheckStarted, { recipe }: State): string[] {
  const when = iteration === 0 ? " before the first iteration" : "";
  return [
    ...(again !== undefined && place === 1 ? [`The checks run again: ${harmlessLine(again)}`] : []),
    `${recipe === "prompt" ? "Guardrail" : "Check"}${when}: ${harmless(command)}`,
  ];
}

function checkFinished(event: CheckFinished, { baseline = [] }: State, format: ConsoleFormatter): string[] {
  const { paint, paragraph, mark } = format;
  const { place, skipped, iteration, exitCode, failAction } = event;
  // Where several run at the same time, or none was started, the line above may be about another one.
  const which = place === undefined && skipped === undefined ? "" : `${harmlessLine(event.command)}: `;
  if (skipped !== undefined) return paragraph(`${which}${skippedWords(skipped)}`, "dim");
  const known = iteration === 0 ? undefined : becameOf(event, baseline);
  const time = `${formatDuration(event.durationMs)}${known === undefined ? "" : `, ${known}`}`;
  const passed = `${mark.ok} ${which}Passed (exit ${exitCode ?? 0}, ${time})`;
  if (event.passed) return [paint("green", passed), ...leftRunning(event)];
  const action = failAction === undefined ? "" : ` ${mark.to} ${failAction}`;
  const failed = `${mark.error} ${which}Failed (${endingOf(event)}, ${time})${action} (log: ${event.log})`;
  return [...paragraph(failed, "red"), ...format.ending(event.output), ...leftRunning(event)];
}

function baselineLine({ checks }: BaselineFinished): string {
  const failed = checks.filter(({ before }) => !before).map(({ command }) => brief(command));
  const all = plural(checks.length, "check");
  if (failed.length === 0) return `Baseline: ${checks.length === 1 ? all : `all ${all}`} passed`;
  return `Baseline: ${failed.length} of ${all} failed before: ${failed.join(", ")}`;
}

function stateChanged(
  { story = "", title = "", from, to, atCap }: StateChanged,
  { mark }: ConsoleFormatter,
): string {
  const cap = atCap ? " (at the review cap)" : "";
  const sign = to === "changes_requested" ? mark.warning : mark.ok;
  return `${sign} ${harmlessLine(`${story} ${title}`.trim())}: ${from} ${mark.to} ${to}${cap}`;
}

function waiting(event: LoopEvent & LimitWaiting, { mark, paragraph }: ConsoleFormatter): string[] {
  const left = formatDuration(Math.max(0, Date.parse(event.until) - Date.parse(event.ts)));
  const when = `waiting until ${localMoment(event.until, event.ts)} (${left})`;
  const what = event.stated ? "" : ", nobody told how long it lasts";
  return paragraph(`${mark.warning} The usage limit of ${event.agent} is reached: ${when}${what}`, "yellow");
}

function iterationFinished(
  event: IterationFinished,
  state: State,
  { paragraph }: ConsoleFormatter,
): string[] {
  const { checks = [], costUsd = null } = state.iteration ?? {};
  const passed = checks.filter((check) => check.passed).length;
  const skipped = checks.filter((check) => check.skipped !== null).length;
  const parts = [
    numbered(event.iteration, state),
    state.asked,
    formatDuration(event.durationMs),
    ...(costUsd === null ? [] : [formatCost(costUsd)]),
    ...(checks.length === 0
      ? []
      : [`${passed}/${checks.length} checks passed${skipped === 0 ? "" : `, ${skipped} skipped`}`]),
    brief(event.reason),
  ];
  return [...paragraph(parts.join(" · "), "dim"), ""];
}
