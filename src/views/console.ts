import { formatDuration } from "../duration.js";
import type { LoopEvent } from "../events.js";
import { type ConsoleFormat, createConsoleFormatter } from "./agent-lines.js";
import { harmless, harmlessLine } from "./harmless.js";
import { linesOf } from "./lines.js";
import { createStatusLine } from "./status-line.js";
import { summaryLines } from "./summary.js";
import { print, type View } from "./view.js";

export interface ConsoleOptions {
  format: ConsoleFormat;
  /** Whether what the agent says is shown as it comes. */
  showAgent: boolean;
  /** The closing summary alone. */
  quiet: boolean;
  /** Whether somebody sees a status line. */
  live: boolean;
  /** Where the records of the run are. */
  records: string;
  /** Whether the closing summary may say how to go on. */
  resumable: boolean;
  out: NodeJS.WriteStream;
}

/** The run as people read it: the product on stdout, the talk on stderr. */
export function consoleView(options: ConsoleOptions): View {
  const format = createConsoleFormatter(options.format);
  const { useEmoji, terminal } = options.format;
  const status =
    options.live && terminal ? createStatusLine(process.stderr, useEmoji, terminal.layout.cut) : undefined;
  const talk = (text: string): void => {
    status?.clear();
    process.stderr.write(`${harmless(text)}\n`);
  };
  return {
    event(event, state) {
      const warning = warningIn(event);
      if (warning !== undefined) talk(`ralph: warning: ${warning}`);
      status?.update(event, state);
      const lines = options.quiet ? [] : linesOf(event, state, format, options.showAgent);
      if (event.type === "run.finished") {
        status?.close();
        lines.push(...summaryLines(event, options, format));
      }
      if (lines.length === 0) return undefined;
      status?.clear();
      return print(options.out, lines.map((line) => `${format.stamp(line, event.ts)}\n`).join(""));
    },
    note: talk,
    close: () => status?.close(),
  };
}

function warningIn(event: LoopEvent): string | undefined {
  if (event.type === "scm.finished" && !event.passed)
    return `scm ${event.task} failed: ${harmless(event.message)}`;
  if (event.type !== "agent.finished" && event.type !== "check.finished") return undefined;
  return event.logError === undefined ? undefined : `${event.log} is incomplete: ${event.logError}`;
}

/** The same view with a `[ralph]` line on stderr for every step. */
export function verboseView(view: View): View {
  return {
    ...view,
    event(event, state) {
      for (const line of verboseLines(event, state.limits?.maxIterations ?? 0))
        view.note(`[ralph] ${harmlessLine(line)}`);
      return view.event(event, state);
    },
  };
}

function verboseLines(event: LoopEvent, maxIterations: number): string[] {
  switch (event.type) {
    case "run.started":
      return [`Run ${event.run} in ${event.workspace}`];
    case "run.resumed":
      return [`Resuming after iteration ${event.iterations}`];
    case "iteration.started":
      return [`Iteration ${event.iteration}/${maxIterations} starting`];
    case "agent.started":
      return [`Agent command: ${event.command.join(" ")}`, `Prompt: ${escaped(event.prompt)}`];
    case "agent.finished":
      return [`Agent exited with ${exitOf(event)}`];
    case "check.started":
      return [`Running guardrail: ${event.command}`];
    case "check.finished":
      return [`Guardrail exited with ${exitOf(event)}`];
    case "scm.finished":
      return [`SCM ${event.task}: ${event.passed ? "ok" : "failed"} (${formatDuration(event.durationMs)})`];
    case "limit.waiting":
      return [`Usage limit of ${event.agent}: waiting until ${event.until} (${event.message})`];
    case "violation":
      return [`Violation: ${escaped(event.what)}`];
    case "locks.removed":
      return [`Removed locks of a dead git: ${escaped(event.files.join(", "))}`];
    case "iteration.finished":
      return [`Completion check: ${event.reason} (iteration took ${formatDuration(event.durationMs)})`];
    default:
      return [];
  }
}

function escaped(text: string): string {
  return text.replace(/\n/g, "\\n");
}

interface Exit {
  exitCode: number | null;
  signal: string | null;
  durationMs: number;
}

function exitOf({ exitCode, signal, durationMs }: Exit): string {
  return `${signal === null ? `code ${exitCode}` : `signal ${signal}`} (${formatDuration(durationMs)})`;
}
