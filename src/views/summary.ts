import { formatDuration } from "../duration.js";
import type { Limits, LoopEvent, Question, RunFinished, StopReason } from "../events.js";
import { hasFailed, type IterationReport } from "../records/iteration.js";
import { resultOf } from "../records/result.js";
import type { RunState } from "../records/run-state.js";
import { stopRow, titleOfReason } from "../stop-reasons.js";
import { firstFailure } from "../verify/excerpt.js";
import {
  baselineWords,
  COMMAND_CHARS,
  type Formatter,
  formatCost,
  formatCount,
  formatTokens,
  plural,
  type Statistics,
  witnessWords,
} from "./figures.js";
import { brief, harmlessLine } from "./harmless.js";
import { laneRows } from "./lane-lines.js";

/** A name and its value; without one there is nothing to say. */
export type SummaryRow = [name: string, value: string | null | undefined];

const MESSAGE_CHARS = 300;

export function summaryLines(
  event: LoopEvent & RunFinished,
  { records, resumable }: { records?: string; resumable: boolean },
  { name, limits, iteration }: Pick<RunState, "name" | "limits" | "iteration">,
  { paint, mark, hanging }: Formatter & { hanging?: Hanging },
): string[] {
  const { message, iterations } = event;
  const [color, sign] = STANDINGS[standingOfEnd(event)];
  const failing = event.success ? undefined : firstFailing(iteration);
  const short = { ...event, failing, message: message && brief(message, MESSAGE_CHARS) };
  const rows: SummaryRow[] = [
    ["name", name],
    ...endRows(short, String(iterations)),
    ["flaky", flakyWords(iteration)],
    ["log", records],
    ...(resumable ? resumeRows({ ...event, limits, run: name ?? event.run }) : []),
  ];
  return [paint(color, `${mark[sign]} ${titleOfEnd(event, limits)}`), ...rowLines(rows, hanging)];
}

/** The colour and the sign of each standing. */
export const STANDINGS = {
  done: ["green", "ok"],
  unverified: ["yellow", "warning"],
  open: ["yellow", "active"],
  failed: ["red", "error"],
} as const;

/** `unverified`: it ended as asked, but nothing verified the work. */
export function standingOfEnd({ success, exitCode }: { success: boolean; exitCode: number | null }) {
  if (success) return "done";
  return exitCode === 0 ? "unverified" : "failed";
}

/** The first check that failed, with the first test or error that it names. */
export function firstFailing(iteration: Pick<IterationReport, "checks"> | undefined): string | undefined {
  const failed = iteration?.checks.find(hasFailed);
  if (failed === undefined) return undefined;
  const named = firstFailure(failed.output);
  const command = brief(failed.command, COMMAND_CHARS);
  return named === undefined ? command : `${command}: ${brief(named, MESSAGE_CHARS)}`;
}

/** `npm test (passed, then exit code 1)`; null: nothing was flaky. */
export function flakyWords(iteration: Pick<IterationReport, "checks"> | undefined): string | null {
  const flaky = iteration?.checks.filter((check) => check.flaky !== undefined) ?? [];
  const words = flaky.map(
    (check) => `${brief(check.name ?? check.command, COMMAND_CHARS)} (${check.flaky?.join(", then ")})`,
  );
  return words.join("; ") || null;
}

/** Puts a text after its label, and the rest below it. */
type Hanging = (start: string, text: string) => string[];

/** Text to read; a value to copy stays in one line. */
const READ = ["task", "reason", "failing", "question", "baseline", "witness", "flaky", "lanes", ""];

export function rowLines(rows: SummaryRow[], hanging?: Hanging): string[] {
  return rows.flatMap(([name, value]) => {
    if (value == null) return [];
    const start = `  ${name.padEnd(11)}`;
    return hanging && READ.includes(name) ? hanging(start, value) : [`${start}${value}`];
  });
}

/** The end of a run, if it has ended. */
interface RunEnd {
  reason?: StopReason | null | undefined;
  limit?: StopReason | null | undefined;
  success?: boolean;
  final?: boolean;
  limits?: Partial<Limits> | null | undefined;
}

/** Why a run has ended, what it used (and of which limits) and where its work is. */
export function endRows(
  end: RunEnd &
    Statistics &
    Pick<RunFinished, "filesChanged" | "baseline" | "worktree" | "branch" | "lanes"> & {
      [name in "message" | "failing" | "unsettled"]?: string | null | undefined;
    },
  iterations: string,
  limits: Partial<Limits> = {},
): SummaryRow[] {
  const { reason, message, durationMs, costUsd, costEstimated, filesChanged, worktree } = end;
  const { branch, lanes = [] } = end;
  const { maxTimeMs = null, maxCostUsd = null } = limits;
  const time = formatDuration(durationMs);
  const cost = costUsd === null ? null : formatCost(costUsd, costEstimated);
  return [
    ["reason", reason && message ? `${reason} (${brief(message, message.length)})` : reason],
    ["failing", end.failing],
    ["iterations", iterations],
    ["time", maxTimeMs === null ? time : `${time} of ${formatDuration(maxTimeMs)}`],
    ["cost", cost === null || maxCostUsd === null ? cost : `${cost} of ${formatCost(maxCostUsd)}`],
    ["tokens", formatTokens(end)],
    ["files", filesChanged === null ? null : `${filesChanged} changed`],
    ["baseline", baselineWords(end.baseline)],
    ["witness", witnessWords(end.baseline)],
    ...laneRows(lanes),
    ["worktree", worktree],
    ["branch", branch],
  ];
}

/** The agent's question, how to answer it, and the command that continues the run. */
export function resumeRows(
  end: RunEnd & { run: string; question?: Question | null } & {
    [name in "worktree" | "branch" | "unsettled"]?: string | null | undefined;
  },
): SummaryRow[] {
  const { run, question, success, worktree, branch, unsettled } = end;
  const isApart = worktree != null || branch != null;
  const isLandable = success && isApart && unsettled == null;
  const text = success ? undefined : question?.text;
  return [
    ["diff", isApart ? `ralph diff ${run}` : null],
    ["land", isLandable ? `ralph land ${run}` : null],
    ["question", text === undefined ? null : brief(harmlessLine(text), MESSAGE_CHARS)],
    ["answer", text === undefined ? null : `ralph answer ${run} "TEXT"`],
    ["resume", howToResume(run, end)],
  ];
}

/** What a person does next with the work of a run. */
export function nextStep(run: string, end: Partial<RunFinished>, isAnswered: boolean): string {
  const rows = new Map(resumeRows({ ...end, run, ...(isAnswered && { question: null }) }));
  return rows.get("land") ?? rows.get("answer") ?? rows.get("resume") ?? `ralph diff ${run}`;
}

/** The command that continues a run, with the flags that it needs; null: none does. */
export function howToResume(run: string, { reason, limit, success, final, limits }: RunEnd): string | null {
  if (success || final) return null;
  // Cost and tokens are one reason to stop: a limit that was not set needs no flag.
  const { maxCostUsd, maxTokens } = limits ?? {};
  const both = maxTokens === null ? "--max-cost USD" : maxCostUsd === null ? "--max-tokens N" : "$&";
  const flags = [...new Set([limit, reason])].map((one) => stopRow(one)?.raise ?? "").join("");
  return `ralph resume ${run}${flags.replace("--max-cost USD (or --max-tokens N)", both)}`;
}

type RunSpending = Pick<RunState, "iterations" | "costUsd" | "inputTokens" | "outputTokens" | "activeMs">;

/** How much of a limit a run has used, by its result. */
const FIGURES: Record<string, (used: RunSpending, limits: Limits) => string> = {
  "stopped: iterations": ({ iterations }, { maxIterations }) => `${iterations} of ${maxIterations}`,
  "stopped: time": ({ activeMs }, { maxTimeMs }) =>
    `${formatDuration(activeMs)} of ${formatDuration(maxTimeMs ?? 0)}`,
  "stopped: cost": ({ costUsd }, { maxCostUsd }) =>
    `${formatCost(costUsd ?? 0)} of ${formatCost(maxCostUsd ?? 0)}`,
  "stopped: tokens": ({ inputTokens, outputTokens }, { maxTokens }) =>
    `${formatCount(inputTokens + outputTokens)} of ${formatCount(maxTokens ?? 0)}`,
};

/** `stopped: cost, $5.02 of $5.00`; without figures where no limit ended it, or the limits are not known. */
export function resultWithLimit(reason: StopReason, spent: RunSpending, limits: Limits | undefined): string {
  const result = resultOf("finished", { ...spent, reason }, limits);
  // A later release or a damaged journal may have an unknown reason.
  const figures = limits && Object.hasOwn(FIGURES, result) ? FIGURES[result]?.(spent, limits) : undefined;
  return figures === undefined ? result : `${result}, ${figures}`;
}

export function titleOfEnd(
  end: Omit<RunSpending, "activeMs"> &
    Pick<RunFinished, "reason" | "durationMs" | "lanes"> & { exitCode: number | null; question?: unknown },
  limits: Limits | undefined,
): string {
  const { reason, exitCode, iterations, durationMs } = end;
  // A worker of a bare command.
  if (reason === "max_iterations" && exitCode === 0)
    return `Stopped after ${iterations} of ${plural(iterations, "iteration")}; nothing was verified`;
  if (reason === "blocked" && end.lanes !== undefined && !end.question)
    return "Stopped: the work of a lane cannot be landed";
  // The limit may have changed while the loop ran.
  const known = limits && reason === "max_iterations" ? { ...limits, maxIterations: iterations } : limits;
  const result = resultWithLimit(reason, { ...end, activeMs: durationMs }, known);
  return result.startsWith("stopped: ") && limits ? `S${result.slice(1)}` : titleOfReason(reason);
}
