import { appendFileSync, existsSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { describeSystemError, RalphError, toRalphError } from "../errors.js";
import { entryAt, makeFolders, realPlace } from "../records/files.js";
import type { Report } from "../records/report.js";
import type { RunFolder } from "../records/runs.js";
import { invalid, saysSomething } from "../settings/limits.js";
import { harmlessJson } from "../views/harmless.js";
import { printAll } from "./output.js";

/** What is written when a run has ended; the same flags on every command that runs one. */
export interface ReportingFlags {
  report?: string;
  reportFile?: string;
  json?: boolean;
}

const FORMATS = ["json", "markdown", "github"] as const;
type Format = (typeof FORMATS)[number];

/** Where a report is to go, as that was before an agent was at work. */
export interface ReportTarget {
  file: string;
  /** Its folder, without links: those that were there before are the user's own. */
  folder: string;
  /** Where the file itself led to. */
  link: string | undefined;
}

/** Where the run is shown: stdout belongs to the report if that goes there. */
export function viewStream(flags: ReportingFlags): NodeJS.WriteStream {
  return reportsToStdout(flags) ? process.stderr : process.stdout;
}

function reportsToStdout({ report, reportFile }: ReportingFlags): boolean {
  return report !== undefined && reportFile === undefined;
}

/**
 * undefined: no file was asked for. `since`: an agent has been at work from then on, and links of its making are not
 * the user's.
 */
export function checkReportFlags(flags: ReportingFlags, since?: Date): ReportTarget | undefined {
  const { reportFile: file } = flags;
  if (file !== undefined && existsSync(file) && statSync(file).isDirectory())
    throw invalid("--report-file", file, "a file, and this is a folder");
  formatOf(flags);
  if (file === undefined) {
    if (flags.json && reportsToStdout(flags))
      throw new RalphError("--json and --report both want stdout", {
        code: "report_choice",
        hint: "give --report-file FILE",
      });
    return undefined;
  }
  const path = resolve(saysSomething("--report-file", file));
  if (since !== undefined && hasLinkSince(dirname(path), since))
    throw invalid("--report-file", file, "a folder without links that are newer than the run");
  return { file, folder: realPlace(dirname(path)), link: linkAt(path) };
}

/** A file without a format has that of its name. */
function formatOf({ report, reportFile = "" }: ReportingFlags): Format | undefined {
  const format = FORMATS.find((name) => name === report);
  if (format !== undefined) return format;
  if (report !== undefined) throw invalid("--report", report, `one of ${FORMATS.join(", ")}`);
  if (/\.html?$/i.test(reportFile))
    throw invalid("--report-file", reportFile, "a .json or .md file (ralph report --html writes a page)");
  if (/\.(md|markdown)$/i.test(reportFile)) return "markdown";
  return reportFile === "" ? undefined : "json";
}

function hasLinkSince(path: string, since: Date): boolean {
  const stat = entryAt(path);
  if (stat?.isSymbolicLink() && stat.ctime >= since) return true;
  return path !== dirname(path) && hasLinkSince(dirname(path), since);
}

function linkAt(path: string): string | undefined {
  return entryAt(path)?.isSymbolicLink() ? readlinkSync(path) : undefined;
}

/** Writes the report that was asked for; in GitHub Actions also the summary and annotations of the job. */
export async function writeReports(
  flags: ReportingFlags,
  run: RunFolder,
  target: ReportTarget | undefined,
): Promise<void> {
  const format = formatOf(flags);
  const inActions = process.env["GITHUB_ACTIONS"] === "true";
  if (format === undefined && !inActions) return;
  await attempt("the report", run, async () => {
    const { report } = await run.report();
    if (format !== undefined) {
      const what = target === undefined ? "the report" : `the report ${target.file}`;
      await attempt(what, run, () => deliver(report, format, target, run));
    }
    if (!inActions) return;
    const { annotations, stepSummary } = await import("../views/report/github.js");
    // They may be the report itself.
    if (!reportsToStdout(flags) || format !== "github")
      await tell(annotations(report), flags.json ? process.stderr : viewStream(flags));
    const file = process.env["GITHUB_STEP_SUMMARY"];
    if (!file) return;
    await attempt("the summary of the step", run, async () => {
      const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      appendFileSync(file, stepSummary(report, size));
    });
  });
}

/** The run is over and its outcome stands: a report that cannot be written does not change it. */
async function attempt(what: string, { id }: RunFolder, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (toRalphError(error) === undefined) throw error;
    const why = `cannot write ${what}: ${describeSystemError(error)}`;
    process.stderr.write(`ralph: error: ${why} (ralph report ${id} shows it)\n`);
  }
}

async function deliver(
  report: Report,
  format: Format,
  target: ReportTarget | undefined,
  run: RunFolder,
): Promise<void> {
  const commands = format === "github" ? (await import("../views/report/github.js")).annotations(report) : [];
  const text =
    format === "json"
      ? `${harmlessJson(report, 2)}\n`
      : (await import("../views/report/markdown.js")).markdownReport(report);
  if (target !== undefined)
    return writeFileSync(openTarget(target, run.spec().workspace), [...commands, text].join("\n"));
  await tell(commands, process.stdout);
  await printAll(text);
}

/** Makes the folders of the report. The agent was there before: a link of its making must not lead ralph elsewhere. */
function openTarget({ file, folder, link }: ReportTarget, workspace: string): string {
  const path = resolve(file);
  if (realPlace(dirname(path)) !== folder)
    throw new RalphError("its folder leads elsewhere since the run began", { code: "report_moved" });
  makeFolders(folder);
  const target = join(folder, basename(path));
  const now = linkAt(target);
  const isTheirs = [process.cwd(), workspace].some((place) => !relative(place, path).startsWith(".."));
  if (now !== undefined && (isTheirs || now !== link)) rmSync(target);
  return target;
}

async function tell(commands: string[], stream: NodeJS.WriteStream): Promise<void> {
  const { tellRunner } = await import("../views/workflow-commands.js");
  for (const command of commands) tellRunner(stream, command);
}
