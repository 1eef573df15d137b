import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, extname } from "node:path";
import { RalphError } from "../errors.js";
import { readReport } from "../host/read-report.js";
import type { RunFolder } from "../state/runs.js";
import type { Report } from "../views/report/model.js";
import { invalid } from "./flags.js";
import { printAll } from "./output.js";

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

export function checkReportFlags(flags: ReportingFlags): void {
  formatOf(flags);
  if (!reportsToStdout(flags) || !flags.json) return;
  throw new RalphError("--json and --report both want stdout", {
    code: "report_choice",
    hint: "give --report-file FILE",
  });
}

/** Writes the report that was asked for; in GitHub Actions also the summary and annotations of the job. */
export async function writeReports(flags: ReportingFlags, home: string, folder: RunFolder): Promise<void> {
  const format = formatOf(flags);
  const inActions = process.env["GITHUB_ACTIONS"] === "true";
  if (format === undefined && !inActions) return;
  const { report } = readReport(home, folder);
  if (format !== undefined) await deliver(await rendered(report, format), flags.reportFile);
  if (inActions) await tellActions(report, flags.json ? process.stderr : process.stdout);
}

function formatOf({ report, reportFile }: ReportingFlags): Format | undefined {
  if (report === undefined) return reportFile === undefined ? undefined : byExtension(reportFile);
  const format = FORMATS.find((name) => name === report);
  if (format === undefined) throw invalid("--report", report, `one of ${FORMATS.join(", ")}`);
  return format;
}

function byExtension(file: string): Format {
  return [".md", ".markdown"].includes(extname(file).toLowerCase()) ? "markdown" : "json";
}

async function rendered(report: Report, format: Format): Promise<string> {
  if (format === "json") return `${JSON.stringify(report, null, 2)}\n`;
  const { markdownReport } = await import("../views/report/markdown.js");
  if (format === "markdown") return markdownReport(report);
  const { annotations } = await import("../views/report/github.js");
  return [...annotations(report), markdownReport(report)].join("\n");
}

async function deliver(text: string, file: string | undefined): Promise<void> {
  if (file === undefined) return printAll(text);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

async function tellActions(report: Report, commands: NodeJS.WriteStream): Promise<void> {
  const { annotations } = await import("../views/report/github.js");
  for (const line of annotations(report)) commands.write(`${line}\n`);
  const summary = process.env["GITHUB_STEP_SUMMARY"];
  if (!summary) return;
  const { markdownReport } = await import("../views/report/markdown.js");
  appendFileSync(summary, markdownReport(report));
}
