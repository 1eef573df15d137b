import type { RunFolder } from "../state/runs.js";
import type { View } from "../views/view.js";

/** How a run is shown; the same flags on every command that runs one. */
export interface OutputFlags {
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  color?: boolean;
  emoji?: boolean;
  timestamps?: boolean;
}

const OUTPUT = { brief: { lines: 5, chars: 500 }, verbose: { lines: 50, chars: 4000 } };

export async function viewFor(flags: OutputFlags, showAgent: boolean): Promise<(folder: RunFolder) => View> {
  surviveClosedPipe();
  const view = flags.json ? await jsonFor() : await consoleFor(flags, showAgent);
  if (!flags.verbose) return view;
  const { verboseView } = await import("../views/verbose.js");
  return (folder) => verboseView(view(folder));
}

async function jsonFor(): Promise<(folder: RunFolder) => View> {
  const { jsonView } = await import("../views/json.js");
  return jsonView;
}

async function consoleFor(flags: OutputFlags, showAgent: boolean): Promise<(folder: RunFolder) => View> {
  const { consoleView } = await import("../views/console.js");
  const quiet = flags.quiet ?? false;
  const size = flags.verbose ? OUTPUT.verbose : OUTPUT.brief;
  return (folder) =>
    consoleView({
      records: folder.path,
      quiet,
      showAgent: showAgent && !quiet,
      live: !quiet && isLive(process.env),
      format: {
        useEmoji: flags.emoji ?? true,
        useColor: useColor(flags, process.env),
        showTimestamp: flags.timestamps ?? false,
        width: process.stdout.columns,
        maxOutputLines: size.lines,
        maxOutputChars: size.chars,
        showProgress: flags.verbose ?? false,
      },
    });
}

export function useColor(flags: Pick<OutputFlags, "color">, env: NodeJS.ProcessEnv): boolean {
  if (flags.color === false || env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return process.stdout.isTTY === true && env["TERM"] !== "dumb";
}

/** A status line needs a terminal that can move its cursor, and somebody who looks at it. */
function isLive(env: NodeJS.ProcessEnv): boolean {
  return (
    process.stderr.isTTY === true && process.stdout.isTTY === true && env["TERM"] !== "dumb" && !env["CI"]
  );
}

/** `ralph run | head` must not end the run. */
export function surviveClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}
