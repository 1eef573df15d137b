import { RalphError } from "../errors.js";
import type { RunFolder } from "../records/runs.js";
import { createFormatter, type FormatOptions, type Formatter } from "../views/figures.js";
import { harmlessJson } from "../views/harmless.js";
import { jsonView, print, type View } from "../views/view.js";

export interface OutputFlags {
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  color?: boolean;
  emoji?: boolean;
  timestamps?: boolean;
}

export type PrintFlags = Pick<OutputFlags, "json" | "color" | "emoji">;

/** `resumable`: whether the closing summary may say how to continue. */
export async function viewFor(
  flags: OutputFlags,
  {
    showAgent,
    resumable = true,
    live = true,
    out = process.stdout,
  }: { showAgent: boolean; resumable?: boolean; live?: boolean; out?: NodeJS.WriteStream },
): Promise<(folder: RunFolder) => View> {
  const { json, quiet = false, verbose = false, timestamps = false } = flags;
  if (json && !verbose) return jsonView;
  const { consoleView, verboseView } = await import("../views/console.js");
  if (json) return () => verboseView(jsonView());
  const { columns } = out;
  const shown = {
    ...{ resumable, out, quiet, showAgent: showAgent && !quiet },
    // A status line needs a terminal that can move its cursor, and a person who reads it.
    live: live && !quiet && process.stderr.isTTY && isTerminal(out) && !process.env["CI"],
    format: {
      ...formatOptions(flags, out),
      showTimestamp: timestamps,
      maxOutputLines: verbose ? 50 : 5,
      maxOutputChars: verbose ? 4000 : 500,
      showProgress: verbose,
      // Measuring text takes a while to load, and a pipe has no width.
      ...(columns !== undefined && { terminal: { columns, layout: await import("../views/layout.js") } }),
    },
  };
  return (folder) => {
    const view = consoleView({ records: folder.path, ...shown });
    return verbose ? verboseView(view) : view;
  };
}

export function formatterFor(flags: OutputFlags): Formatter {
  return createFormatter(formatOptions(flags, process.stdout));
}

export function formatOptions({ emoji = true, color }: OutputFlags, out: NodeJS.WriteStream): FormatOptions {
  const { NO_COLOR: no, FORCE_COLOR: forced } = process.env;
  const isForced = forced !== undefined && forced !== "0" && forced !== "false";
  const useColor = color !== false && !no && (forced === undefined ? isTerminal(out) : isForced);
  return { useEmoji: emoji, useColor };
}

function isTerminal(out: NodeJS.WriteStream): boolean {
  return out.isTTY === true && process.env["TERM"] !== "dumb";
}

/** Resolves when the reader has taken it: a slow pipe loses nothing. Each of these returns the exit code. */
export async function printAll(text: string, exitCode = 0): Promise<number> {
  await print(process.stdout, text);
  return exitCode;
}

export async function printAs(
  { json }: PrintFlags,
  document: unknown,
  lines: () => string[] | Promise<string[]>,
  exitCode = 0,
): Promise<number> {
  return printAll(`${json ? harmlessJson(document, 2) : (await lines()).join("\n")}\n`, exitCode);
}

export function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

export function note(text: string): number {
  process.stderr.write(`ralph: ${text}\n`);
  return 0;
}

export function warn(text: string): number {
  return note(`warning: ${text}`);
}

/** A failure that the user can act on; exit 2: nothing was started. */
export function failure(code: string, message: string, hint?: string, exitCode = 2): RalphError {
  return new RalphError(message, { code, hint, exitCode });
}

/** A conversation or a screen needs a person who looks at it. */
export function requireTerminal(command: string, hint?: string): void {
  if (!process.stdin.isTTY || !process.stdout.isTTY || process.env["TERM"] === "dumb")
    throw failure("no_terminal", `${command} needs a terminal`, hint);
}
