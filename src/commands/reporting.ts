import { appendFileSync, existsSync, statSync, writeFileSync } from "node:fs";
import { extname } from "node:path";
import { describeSystemError, RalphError, toRalphError } from "../errors.js";
import type { Report } from "../records/report.js";
import type { RunFolder } from "../records/runs.js";
import { invalid, saysSomething } from "../settings/limits.js";
import { harmlessJson } from "../views/harmless.js";
import { printAll } from "./output.js";
import { openTarget, type ReportTarget, reportTarget } from "./report-target.js";

/** What is written when a run has ended; the same flags on every command that runs one. */
export interface ReportingFlags {
  report?: string;
  reportFile?: string;
  json?: boolean;
}

const FORMATS = ["json", "markdown", "github"] as const;
type Format = (typeof FORMATS)[number];

/** Where the run is shown: stdout belongs to the report if that goes there. */
export function viewStream(flags: ReportingFlags): NodeJS.WriteStream {
  return reportsToStdout(flags) ? process.stderr : process.stdout;
}

function reportsToStdout({ report, reportFile }: ReportingFlags): boolean {
  return report !== undefined && reportFile === undefined;
}

/** undefined: no file was asked for. `since`: when the agent was there first, if not from now on. */
export function checkReportFlags(flags: ReportingFlags, since?: Date): ReportTarget | undefined {
  const { reportFile } = flags;
  if (reportFile !== undefined && existsSync(reportFile) && statSync(reportFile).isDirectory()) {
    throw invalid("--report-file", reportFile, "a file, and this is a folder");
  }
  formatOf(flags);
  if (flags.reportFile !== undefined) saysSomething("--report-file", flags.reportFile);
  if (reportsToStdout(flags) && flags.json) {
    throw new RalphError("--json and --report both want stdout", {
      code: "report_choice",
      hint: "give --report-file FILE",
    });
  }
  return reportFile === undefined ? undefined : reportTarget(reportFile, since);
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
      const open = (): string | undefined => target && openTarget(target, run.spec().workspace);
      await attempt(what, run, () => deliver(report, format, open));
    }
    if (!inActions) return;
    await annotate(report, flags);
    const summary = process.env["GITHUB_STEP_SUMMARY"];
    if (summary) await attempt("the summary of the step", run, () => summarize(report, summary));
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

function formatOf({ report, reportFile }: ReportingFlags): Format | undefined {
  if (report === undefined) return reportFile === undefined ? undefined : byExtension(reportFile);
  const format = FORMATS.find((name) => name === report);
  if (format === undefined) throw invalid("--report", report, `one of ${FORMATS.join(", ")}`);
  return format;
}

function byExtension(file: string): Format {
  if (/\.html?$/i.test(file))
    throw invalid("--report-file", file, "a .json or .md file (ralph report --html writes a page)");
  return [".md", ".markdown"].includes(extname(file).toLowerCase()) ? "markdown" : "json";
}

async function deliver(report: Report, format: Format, fileOf: () => string | undefined): Promise<void> {
  const commands = format === "github" ? await annotationsOf(report) : [];
  const text = await rendered(report, format);
  const file = fileOf();
  if (file !== undefined) return writeFileSync(file, [...commands, text].join("\n"));
  await tell(commands, process.stdout);
  await printAll(text);
}

async function rendered(report: Report, format: Format): Promise<string> {
  if (format === "json") return `${harmlessJson(report, 2)}\n`;
  return (await import("../views/report/markdown.js")).markdownReport(report);
}

/** Annotations of the job, if they are not the report itself. */
async function annotate(report: Report, flags: ReportingFlags): Promise<void> {
  if (reportsToStdout(flags) && flags.report === "github") return;
  await tell(await annotationsOf(report), flags.json ? process.stderr : viewStream(flags));
}

async function annotationsOf(report: Report): Promise<string[]> {
  return (await import("../views/report/github.js")).annotations(report);
}

async function tell(commands: string[], stream: NodeJS.WriteStream): Promise<void> {
  const { tellRunner } = await import("../views/workflow-commands.js");
  for (const command of commands) tellRunner(stream, command);
}

async function summarize(report: Report, file: string): Promise<void> {
  const { stepSummary } = await import("../views/report/github.js");
  const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
  appendFileSync(file, stepSummary(report, size));
}
