import { formatDuration } from "../duration.js";
import type { AgentFinished, AgentStarted, CheckFinished, LoopEvent, StateChanged } from "../events.js";
import { AT_CAP } from "../recipes/stories/state.js";
import { ESCALATED } from "../records/limited.js";
import { becameOf } from "../records/result.js";
import type { RunState } from "../records/run-state.js";
import type { ConsoleFormatter } from "./agent-lines.js";
import {
  endingOf,
  formatCost,
  formatCount,
  formatStatistics,
  joined,
  localMoment,
  plural,
  skippedWords,
} from "./figures.js";
import { brief, firstLine, harmless, harmlessLine } from "./harmless.js";
import { LANE_LINES } from "./lane-lines.js";
import { type ByEvent, shownBy } from "./view.js";

type State = Readonly<RunState>;
type Lines = ByEvent<[state: State, format: ConsoleFormatter], string[] | undefined>;

export function linesOf(
  event: LoopEvent,
  state: State,
  format: ConsoleFormatter,
  showAgent: boolean,
): string[] {
  if (event.type === "agent.event") return showAgent ? format.event(event.event) : [];
  const others = event.type === "agent.started" ? whoIsAsked(event, state, format) : [];
  const ofLane = event.lane === undefined ? undefined : shownBy(LANE_LINES, event, state, format);
  if (ofLane !== undefined) return ofLane;
  const own = state.retries === undefined ? undefined : shownBy(PIPELINE, event, state, format);
  return [...others, ...(own ?? shownBy(COMMON, event, state, format) ?? [])];
}

function whoIsAsked(event: AgentStarted, { strongerCalls }: State, format: ConsoleFormatter): string[] {
  const { agent, role, insteadOf, attempt } = event;
  const isFirst = role === ESCALATED && strongerCalls === 1;
  if (attempt > 1 || (insteadOf === undefined && !isFirst)) return [];
  const why = insteadOf === undefined ? "The run is stuck" : `${harmlessLine(insteadOf)} is limited or down`;
  return format.paragraph(`${format.mark.warning} ${why}: asking ${harmlessLine(agent)}`, "yellow");
}

const COMMON: Lines = {
  "run.started"({ run, name, agent, credentials, limits, background }, _, { paragraph }) {
    const { maxIterations, maxCostUsd, maxTokens, maxTimeMs } = limits;
    return paragraph(
      joined(
        name === undefined ? `Run ${run}` : `Run ${name} (${run})`,
        credentials === null ? agent : `${agent} (billed to ${credentials})`,
        `at most ${plural(maxIterations, "iteration")}`,
        maxCostUsd && formatCost(maxCostUsd),
        maxTokens && `${formatCount(maxTokens)} tokens`,
        maxTimeMs && formatDuration(maxTimeMs),
        background && "background kept",
      ),
    );
  },
  "run.resumed": ({ iterations }) => [`Resumed after ${plural(iterations, "iteration")}.`],
  "lease.lost": ({ worker, why }, _, { mark }) => [
    `${mark.warning} ${harmlessLine(worker || "A worker")} has lost the run: ${harmlessLine(why)}`,
  ],
  "run.paused": ({ iterations, run }, { name = run }) => [
    `Paused after ${plural(iterations, "iteration")}. Continue with: ralph resume ${name}`,
  ],
  "iteration.started"({ iteration, mode, about, changed = [], lane }, state, { paint }) {
    const what = joined(about && harmlessLine(about), numbered(iteration, state));
    const title = paint("bold", `--- ${what}${mode ? ` (${mode})` : ""} ---`);
    // In a lane, ralph itself merged the landed stories.
    if (changed.length === 0 || lane !== undefined) return [title];
    return [title, `You changed ${harmless(changed.join(", "))}: the run continues from there.`];
  },
  "agent.started": ({ attempt }) => (attempt > 1 ? [`Empty answer: asking again (attempt ${attempt})`] : []),
  "agent.finished"(event, { iteration }, { paragraph, mark, flush }) {
    const { tools = 0, toolErrors: errors = 0 } = iteration ?? {};
    const statistics = formatStatistics({ ...event, tools, errors });
    const done =
      event.error === null
        ? paragraph(`${mark.ok} Complete (${statistics})`, "green")
        : paragraph(`${mark.error} Failed: ${harmless(firstLine(event.error))} (${statistics})`, "red");
    return [...flush(), ...done, ...leftRunning(event).flatMap((text) => paragraph(text, "dim"))];
  },
  "check.started"({ iteration, name, command, again }) {
    const when = iteration === 0 ? " before the first iteration" : "";
    return [
      ...(again !== undefined ? [`The checks run again: ${harmlessLine(again)}`] : []),
      `Check${when}: ${harmless(name === undefined ? command : `${name} (${command})`)}`,
    ];
  },
  "check.finished": checkFinished,
  "baseline.finished"({ checks }, _, { paragraph }) {
    const failed = checks.filter(({ before }) => !before).map(({ command }) => brief(command));
    const all = plural(checks.length, "check");
    if (failed.length > 0)
      return paragraph(`Baseline: ${failed.length} of ${all} failed before: ${failed.join(", ")}`);
    return paragraph(`Baseline: ${checks.length === 1 ? all : `all ${all}`} passed`);
  },
  "scm.finished": ({ passed, task, message }, _, { mark }) =>
    passed ? [`${mark.ok} SCM ${task}: ${harmless(firstLine(message))}`] : [],
  "state.changed"(event, _, { mark, paragraph }) {
    const sign = event.to === "changes_requested" ? mark.warning : mark.ok;
    return paragraph(`${sign} ${harmlessLine(storyMoved(event))}`);
  },
  violation: ({ what }, _, { mark, paragraph }) =>
    paragraph(`${mark.warning} Violation: ${harmlessLine(what)}`, "yellow"),
  "locks.removed": ({ files }, _, { mark, paragraph }) =>
    paragraph(`${mark.warning} Removed the locks of a dead git: ${harmlessLine(files.join(", "))}`, "yellow"),
  "landing.started": ({ into, stories = [] }) => [
    `Landing ${joined(...stories.map(harmlessLine)) || "the work"} in ${harmlessLine(into)}: the checks run on the merge`,
  ],
  "landing.landed"({ into, new: commit, stories = [], unverified }, _, { mark, paint }) {
    const what = joined(...stories.map(harmlessLine)) || "The work";
    const how = unverified ? ", and nothing verified it" : "";
    return [
      paint("green", `${mark.ok} ${what} landed in ${harmlessLine(into)} (${commit.slice(0, 9)})${how}`),
    ];
  },
  "landing.refused"({ message, stories = [] }, _, { mark, paragraph }) {
    const what = joined(...stories.map(harmlessLine), "not landed");
    return paragraph(`${mark.warning} ${what}: ${harmlessLine(message)}`, "yellow");
  },
  "backoff.started": ({ iteration, seconds, attempt, maxAttempts }) => [
    `Iteration ${iteration} failed, retrying in ${seconds}s (attempt ${attempt}/${maxAttempts})`,
  ],
  "limit.waiting"({ agent, until, ts, stated }, _, { mark, paragraph }) {
    const left = formatDuration(Math.max(0, Date.parse(until) - Date.parse(ts)));
    const what = `waiting until ${localMoment(until, ts)} (${left}${stated ? "" : ", an estimate"})`;
    return paragraph(`${mark.warning} The usage limit of ${agent} is reached: ${what}`, "yellow");
  },
  "iteration.finished"({ iteration, durationMs, reason }, state, { paragraph }) {
    const { checks = [], costUsd = null } = state.iteration ?? {};
    const passed = checks.filter((check) => check.passed).length;
    const skipped = checks.filter((check) => check.skipped !== null).length;
    const ran = `${passed}/${checks.length} checks passed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
    const spent = joined(state.asked, formatDuration(durationMs), costUsd !== null && formatCost(costUsd));
    const line = joined(numbered(iteration, state), spent, checks.length > 0 && ran, brief(reason));
    return [...paragraph(line, "dim"), ""];
  },
};

/** `US-002 · review 1/3: changes requested: …` */
function storyMoved({ story, from, to, title, reviews, reviewCap, atCap, feedback }: StateChanged): string {
  const review = `review ${reviews ?? ""}${reviewCap === undefined ? "" : `/${reviewCap}`}`.trim();
  const moved: Record<string, string> = {
    changes_requested: `${review}: changes requested`,
    approved: `${review}: approved${atCap ? " at the review cap" : ""}`,
    needs_review: `${from === "todo" ? "implemented" : "fixed"}, waits for review`,
  };
  const more = feedback === undefined ? title : firstLine(feedback.replace(AT_CAP, "").trim());
  return `${joined(story, moved[to] ?? to)}${more ? `: ${more}` : ""}`;
}

function numbered(iteration: number, { limits }: State): string {
  return `Iteration ${iteration}/${limits?.maxIterations ?? 0}`;
}

function leftRunning({ left }: Pick<AgentFinished, "left">): string[] {
  if (left === undefined) return [];
  const what = left === 1 ? "a process that was" : `${left} processes that were`;
  return [`Ended ${what} left running (--keep-background keeps them)`];
}

function checkFinished(event: CheckFinished, { baseline = [] }: State, format: ConsoleFormatter): string[] {
  const { paint, paragraph, mark } = format;
  const { place, skipped, iteration, exitCode, failAction } = event;
  // Where several run at the same time, or none was started, the line above may be about another one.
  const which =
    place === undefined && skipped === undefined ? "" : `${harmlessLine(event.name ?? event.command)}: `;
  if (skipped !== undefined) return paragraph(`${which}${skippedWords(skipped)}`, "dim");
  const known = iteration === 0 ? undefined : becameOf(event, baseline);
  const time = `${formatDuration(event.durationMs)}${known === undefined ? "" : `, ${known}`}`;
  const passed = `${mark.ok} ${which}Passed (exit ${exitCode ?? 0}, ${time})`;
  if (event.passed) return [paint("green", passed), ...leftRunning(event)];
  const action = failAction === undefined ? "" : ` ${mark.to} ${failAction}`;
  const log = event.log === "" ? "" : ` (log: ${event.log})`;
  const failed = `${mark.error} ${which}Failed (${endingOf(event)}, ${time})${action}${log}`;
  return [...paragraph(failed, "red"), ...format.excerpt(event.output), ...leftRunning(event)];
}

/** The lines of a pipeline, one block for each try of a state; others are as in COMMON. */
const PIPELINE: Lines = {
  "iteration.started"({ iteration, mode = "", retries }, _, { paint }) {
    const line = paint("bold", `State: ${harmlessLine(mode)} (retry ${retries?.count}/${retries?.max})`);
    return iteration === 1 ? ["", line] : [line];
  },
  "agent.started": ({ attempt, agent }, { iteration }, { paint }) =>
    attempt > 1
      ? undefined
      : [paint("dim", `[${harmlessLine(agent)} works on ${harmlessLine(iteration?.mode ?? "")}]`)],
  "check.started": ({ command }) => [`Running: ${harmlessLine(command)}`],
  "check.finished": () => [],
  "gate.finished"(event, { iteration, baseline = [] }, format) {
    const { passed, output, warnings = [], retries, maxRetries } = event;
    const { paint, paragraph, mark } = format;
    const check = iteration?.checks.at(-1);
    const became = check && becameOf(check, baseline);
    const since = became === undefined ? "" : ` (${became})`;
    const said = harmless(output).replace("✅", mark.ok).replace("❌", mark.error).replace("⚠️", mark.warning);
    const isTriedAgain = !passed && retries > 0 && retries < maxRetries;
    return [
      ...paragraph(`Output: ${said}`),
      ...(passed
        ? warnings.flatMap((text) => paragraph(`${mark.warning} ${harmlessLine(text)}`, "yellow"))
        : format.excerpt(check?.output ?? "")),
      passed ? paint("green", `Gate: PASS${since}`) : paint("red", `Gate: FAIL${since}`),
      ...(isTriedAgain ? [`Retry: ${retries}/${maxRetries}`] : []),
    ];
  },
  "state.changed"({ from, to, saved: [log, patch] = [] }, _, { paint, mark }) {
    const state = harmlessLine(from);
    if (to !== "GUTTER") return [`Transition: ${state} ${mark.to} ${harmlessLine(to)}`];
    return [
      paint("red", `${mark.alarm} GUTTER REACHED: Max retries exhausted for state: ${state}`),
      ...(log === undefined ? [] : [`Last output saved to: ${log}`]),
      ...(patch === undefined ? [] : [`Changes saved to: ${patch}`]),
    ];
  },
  "iteration.finished"(_, { iteration }, { paint, mark }) {
    const isComplete = iteration?.states.at(-1)?.to === "COMPLETE";
    return isComplete ? ["", paint("green", `${mark.ok} PIPELINE COMPLETE`), ""] : [""];
  },
};
