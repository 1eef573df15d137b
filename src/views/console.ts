import type { LoopEvent } from "../events.js";
import { createFormatter, type FormatOptions } from "./format.js";
import { harmless } from "./harmless.js";
import { createLines } from "./lines.js";
import { print } from "./print.js";
import { createStatusLine, statusOf } from "./status-line.js";
import { summaryLines } from "./summary.js";
import type { View } from "./view.js";

export interface ConsoleOptions {
  format: FormatOptions;
  /** Whether what the agent says is shown as it comes. */
  showAgent: boolean;
  /** The closing summary alone. */
  quiet: boolean;
  /** Whether a terminal is there for a status line. */
  live: boolean;
  /** Where the records of the run are. */
  records: string;
  /** Whether the closing summary may say how to go on. */
  resumable: boolean;
  out: NodeJS.WriteStream;
}

/** The run as people read it: the product on stdout, the talk on stderr. */
export function consoleView(options: ConsoleOptions): View {
  const format = createFormatter(options.format);
  const linesOf = createLines(format, options.showAgent);
  const status = options.live ? createStatusLine(process.stderr, options.format.useEmoji) : undefined;
  const talk = (text: string): void => {
    status?.clear();
    process.stderr.write(`${harmless(text)}\n`);
  };
  const show = (lines: string[], ts: string): Promise<void> | undefined => {
    if (lines.length === 0) return undefined;
    status?.clear();
    return print(options.out, lines.map((line) => `${format.stamp(line, ts)}\n`).join(""));
  };

  return {
    event(event) {
      const warning = warningIn(event);
      if (warning !== undefined) talk(`ralph: warning: ${warning}`);
      status?.update(statusOf(event));
      const lines = options.quiet ? [] : linesOf(event);
      if (event.type !== "run.finished") return show(lines, event.ts);
      status?.close();
      return show([...lines, ...summaryLines(event, options, format)], event.ts);
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
