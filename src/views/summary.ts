import { formatDuration } from "../duration.js";
import type { LoopEvent, RunFinished, StopReason } from "../events.js";
import { brief, type Formatter, formatCost, formatCount } from "./format.js";

export const TITLES: Record<StopReason, string> = {
  completed: "Completed",
  max_iterations: "Stopped: the maximum number of iterations was reached",
  budget_exhausted: "Stopped: the budget is exhausted",
  timeout: "Stopped: the time is up",
  agent_failed: "Stopped: the agent failed too many times in a row",
  stuck: "Stopped: stuck, the same failure again and again with no file changed",
  gutter: "Stopped: the gate failed too many times",
  blocked: "Stopped: the agent needs an answer",
  violation: "Stopped: the agent broke the rules",
  interrupted: "Interrupted",
  error: "Stopped by an error",
};

/** The flag that raises a limit, behind `ralph resume RUN`. */
export const RAISE: Partial<Record<StopReason, string>> = {
  max_iterations: " --max-iterations N",
  budget_exhausted: " --max-cost USD (or --max-tokens N)",
  timeout: " --max-time DURATION",
};

/** The closing lines of a run: what came of it, what it took, how to go on. */
export function summaryLines(event: LoopEvent & RunFinished, records: string, format: Formatter): string[] {
  const { success, reason, message, costUsd, inputTokens, outputTokens, filesChanged } = event;
  const mark = success ? format.mark.ok : format.mark.error;
  const rows: [name: string, value: string | null][] = [
    ["reason", message === undefined ? reason : `${reason} (${brief(message)})`],
    ["iterations", String(event.iterations)],
    ["time", formatDuration(event.durationMs)],
    ["cost", costUsd === null ? null : formatCost(costUsd)],
    [
      "tokens",
      inputTokens + outputTokens === 0
        ? null
        : `${formatCount(inputTokens)} in / ${formatCount(outputTokens)} out`,
    ],
    ["files", filesChanged === null ? null : `${filesChanged} changed`],
    ["log", records],
    ["resume", success ? null : `ralph resume ${event.run}${RAISE[reason] ?? ""}`],
  ];
  return [
    format.paint(success ? "green" : "red", `${mark} ${TITLES[reason]}`),
    ...rows.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(11)}${value}`])),
  ];
}
