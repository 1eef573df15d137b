import type { RunFolder } from "../records/runs.js";
import { createFormatter, type FormatOptions, type Formatter } from "../views/format.js";
import { harmlessJson } from "../views/harmless.js";
import { jsonView, print, type View } from "../views/view.js";

/** How a run is shown; the same flags on every command that runs one. */
export interface OutputFlags {
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  color?: boolean;
  emoji?: boolean;
  timestamps?: boolean;
}

/** How a command that shows no run prints. */
export type LookFlags = Pick<OutputFlags, "json" | "color" | "emoji">;

const OUTPUT = { brief: { lines: 5, chars: 500 }, verbose: { lines: 50, chars: 4000 } };

export interface Shown {
  /** Whether what the agent says is shown as it comes. */
  showAgent: boolean;
  /** Whether the closing summary may say how to go on. */
  resumable?: boolean;
  /** Where it is shown, if not on stdout. */
  out?: NodeJS.WriteStream;
}

export async function viewFor(flags: OutputFlags, shown: Shown): Promise<(folder: RunFolder) => View> {
  surviveClosedPipe();
  const view = flags.json ? jsonView : await consoleFor(flags, shown);
  if (!flags.verbose) return view;
  const { verboseView } = await import("../views/console.js");
  return (folder) => verboseView(view(folder));
}

/** What a command that shows no run prints with. */
export function formatterFor(flags: OutputFlags): Formatter {
  return createFormatter(formatOptions(flags, process.stdout));
}

/** Resolves when it was taken: a pipe that is read slowly loses nothing. */
export async function printAll(text: string): Promise<void> {
  surviveClosedPipe();
  await print(process.stdout, text);
}

/** A document: as JSON where that is asked for, else as lines. */
export async function printAs(
  { json }: LookFlags,
  document: unknown,
  lines: () => string[] | Promise<string[]>,
): Promise<void> {
  await printAll(`${json ? harmlessJson(document, 2) : (await lines()).join("\n")}\n`);
}

function formatOptions(flags: OutputFlags, out: NodeJS.WriteStream): FormatOptions {
  return { useEmoji: flags.emoji ?? true, useColor: useColor(flags, out) };
}

async function consoleFor(
  flags: OutputFlags,
  { showAgent, resumable = true, out = process.stdout }: Shown,
): Promise<(folder: RunFolder) => View> {
  const { consoleView } = await import("../views/console.js");
  const { quiet = false, verbose = false, timestamps = false } = flags;
  const size = verbose ? OUTPUT.verbose : OUTPUT.brief;
  const { columns } = out;
  const format = {
    ...formatOptions(flags, out),
    showTimestamp: timestamps,
    maxOutputLines: size.lines,
    maxOutputChars: size.chars,
    showProgress: verbose,
    // Measuring text takes a while to load, and a pipe has no width.
    ...(columns !== undefined && { terminal: { columns, layout: await import("../views/layout.js") } }),
  };
  const shown = {
    resumable,
    out,
    quiet,
    showAgent: showAgent && !quiet,
    live: !quiet && isLive(out),
    format,
  };
  return (folder) => consoleView({ records: folder.path, ...shown });
}

function useColor(flags: OutputFlags, out: NodeJS.WriteStream): boolean {
  const { env } = process;
  if (flags.color === false || env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return out.isTTY === true && env["TERM"] !== "dumb";
}

/** A status line needs a terminal that can move its cursor, and somebody who looks at it. */
function isLive(out: NodeJS.WriteStream): boolean {
  const { env, stderr } = process;
  return stderr.isTTY === true && out.isTTY === true && env["TERM"] !== "dumb" && !env["CI"];
}

/** `ralph run | head` must not end the run. */
export function surviveClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) stream.off("error", ignore).on("error", ignore);
}

function ignore(): void {}
