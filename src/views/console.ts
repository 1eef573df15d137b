import type {
  AgentFinished,
  CheckFinished,
  IterationFinished,
  Limits,
  LoopEvent,
  RunFinished,
} from "../events.js";
import { formatDuration } from "../settings/duration.js";
import type { RunFolder } from "../state/runs.js";
import { createFormatter, type FormatOptions, formatCost, formatStatistics } from "./format.js";
import { createStatusLine } from "./status-line.js";
import type { View } from "./view.js";

export interface ConsoleOptions {
  format: FormatOptions;
  /** Whether what the agent says is shown as it comes. */
  showAgent: boolean;
  quiet: boolean;
  /** Whether a terminal is there for a status line. */
  live: boolean;
  folder: RunFolder;
}

/** The run as people read it: the product on stdout, the talk on stderr. */
export function consoleView(options: ConsoleOptions): View {
  const format = createFormatter(options.format);
  const { mark, paint } = format;
  const status = options.live ? createStatusLine(process.stderr, options.format.useEmoji) : undefined;
  let limits: Limits | undefined;
  let agent = "";
  let tools = 0;
  let errors = 0;
  let checks: boolean[] = [];
  let iterationCost: number | null = null;
  let totalCost: number | null = null;

  const show = (print: () => void): void => (status === undefined ? print() : status.around(print));
  const out = (lines: string[], ts: string): void => {
    if (lines.length === 0) return;
    show(() => process.stdout.write(lines.map((line) => `${format.stamp(line, ts)}\n`).join("")));
  };
  const talk = (text: string): void => show(() => process.stderr.write(`${text}\n`));

  const counter = (iteration: number): string => `${iteration}/${limits?.maxIterations ?? "?"}`;

  const render = (event: LoopEvent): string[] => {
    switch (event.type) {
      case "run.started":
        limits = event.limits;
        agent = event.agent;
        return [];
      case "run.resumed":
        limits = event.limits ?? limits;
        return [`Resumed after ${plural(event.iterations, "iteration")}.`];
      case "run.paused":
        return [
          `Paused after ${plural(event.iterations, "iteration")}. Continue with: ralph resume ${event.run}`,
        ];
      case "iteration.started":
        [tools, errors, checks, iterationCost] = [0, 0, [], null];
        status?.update({ iteration: `iteration ${counter(event.iteration)}`, activity: "asking the agent" });
        return [
          paint(
            "bold",
            `--- Iteration ${counter(event.iteration)}${event.mode ? ` (${event.mode})` : ""} ---`,
          ),
        ];
      case "agent.started":
        agent = event.agent === "command" ? (event.command[0] ?? agent) : event.agent;
        status?.update({ agent });
        return event.attempt === 1 ? [] : [`Empty answer: asking again (attempt ${event.attempt})`];
      case "agent.event":
        if (event.event.type === "tool_start") {
          tools += 1;
          status?.update({ activity: `${event.event.name}(${event.event.input})` });
        }
        if (event.event.type === "tool_end") {
          errors += event.event.isError ? 1 : 0;
          status?.update({ activity: "thinking" });
        }
        return options.showAgent ? format.event(event.event) : [];
      case "agent.finished":
        return agentFinished(event);
      case "check.started":
        status?.update({ activity: `guardrail ${event.command}` });
        return [`Guardrail: ${event.command}`];
      case "check.finished":
        checks.push(event.passed);
        return checkFinished(event);
      case "scm.finished":
        if (!event.passed) talk(`ralph: warning: scm ${event.task} failed: ${event.message}`);
        return event.passed ? [`${mark.ok} SCM ${event.task}: ${firstLine(event.message)}`] : [];
      case "backoff.started":
        status?.update({ activity: `waiting ${event.seconds}s` });
        return [
          `Iteration ${event.iteration} failed, retrying in ${event.seconds}s (attempt ${event.attempt}/${event.maxAttempts})`,
        ];
      case "iteration.finished":
        return iterationFinished(event);
      case "run.finished":
        return [];
    }
  };

  const agentFinished = (event: AgentFinished): string[] => {
    if (event.costUsd !== null) {
      iterationCost = (iterationCost ?? 0) + event.costUsd;
      totalCost = (totalCost ?? 0) + event.costUsd;
    }
    status?.update({ costUsd: totalCost });
    if (event.logError !== undefined) talk(`ralph: warning: ${event.log} is incomplete: ${event.logError}`);
    const statistics = formatStatistics({ ...event, tools, errors });
    if (event.error !== null)
      return [paint("red", `${mark.error} Failed: ${firstLine(event.error)} (${statistics})`)];
    return [paint("green", `${mark.ok} Complete (${statistics})`)];
  };

  const checkFinished = (event: CheckFinished): string[] => {
    if (event.logError !== undefined) talk(`ralph: warning: ${event.log} is incomplete: ${event.logError}`);
    const time = formatDuration(event.durationMs);
    if (event.passed) return [paint("green", `${mark.ok} Passed (exit 0, ${time})`)];
    const how = event.timedOut ? "timed out" : (event.signal ?? `exit ${event.exitCode}`);
    const action = event.failAction === undefined ? "" : ` → ${event.failAction}`;
    return [paint("red", `${mark.error} Failed (${how}, ${time})${action} (log: ${event.log})`)];
  };

  const iterationFinished = (event: IterationFinished): string[] => {
    const parts = [
      `Iteration ${counter(event.iteration)}`,
      agent,
      formatDuration(event.durationMs),
      ...(iterationCost === null ? [] : [formatCost(iterationCost)]),
      ...(checks.length === 0 ? [] : [`${checks.filter(Boolean).length}/${checks.length} checks passed`]),
      firstLine(event.reason),
    ];
    return [paint("dim", parts.join(" · ")), ""];
  };

  return {
    event(event) {
      const lines = render(event);
      if (!options.quiet) out(lines, event.ts);
      if (event.type !== "run.finished") return;
      status?.close();
      out(summary(event, options.folder, paint, mark), event.ts);
    },
    note: talk,
    close: () => status?.close(),
  };
}

const TITLES: Record<RunFinished["reason"], string> = {
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

type Paint = ReturnType<typeof createFormatter>["paint"];
type Marks = ReturnType<typeof createFormatter>["mark"];

function summary(event: LoopEvent & RunFinished, folder: RunFolder, paint: Paint, mark: Marks): string[] {
  const { success, reason, message, costUsd, inputTokens, outputTokens, filesChanged } = event;
  const title = success
    ? paint("green", `${mark.ok} ${TITLES[reason]}`)
    : paint("red", `${mark.error} ${TITLES[reason]}`);
  const tokens = inputTokens + outputTokens;
  const rows: [string, string][] = [
    ["reason", message === undefined ? reason : `${reason} (${firstLine(message)})`],
    ["iterations", String(event.iterations)],
    ["time", formatDuration(event.durationMs)],
    ...(costUsd === null ? [] : [["cost", formatCost(costUsd)] as [string, string]]),
    ...(tokens === 0 ? [] : [["tokens", `${inputTokens} in / ${outputTokens} out`] as [string, string]]),
    ...(filesChanged === null ? [] : [["files", `${filesChanged} changed`] as [string, string]]),
    ["log", folder.path],
    ...(success ? [] : [["resume", `ralph resume ${event.run}${raiseHint(reason)}`] as [string, string]]),
  ];
  return [title, ...rows.map(([name, value]) => `  ${name.padEnd(11)}${value}`)];
}

function raiseHint(reason: RunFinished["reason"]): string {
  if (reason === "max_iterations") return " --max-iterations N";
  if (reason === "budget_exhausted") return " --max-cost USD (or --max-tokens N)";
  return reason === "timeout" ? " --max-time DURATION" : "";
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
