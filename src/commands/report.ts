import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { describeSystemError, orElse, toRalphError } from "../errors.js";
import { makeFolders, realPlace, writeFresh } from "../records/files.js";
import type { Report } from "../records/report.js";
import { type RunFolder, runsIn } from "../records/runs.js";
import { invalid, saysSomething } from "../settings/limits.js";
import { harmlessJson } from "../views/harmless.js";
import type { ShownReceipt } from "../views/report/html.js";
import { failure, formatterFor, note, type PrintFlags, printAll, printAs, say, warn } from "./output.js";

/** Flags for the report at the end of a run, the same on every command that runs one. */
export interface ReportingFlags {
  report?: string;
  reportFile?: string;
  json?: boolean;
}

const FORMATS = ["json", "markdown", "github"] as const;

/** Where the report of a run goes; decided before the first agent starts. */
export interface ReportTarget {
  format: (typeof FORMATS)[number] | undefined;
  /** undefined: stdout. */
  file?: string | undefined;
  /** The folder of the file without links. */
  folder?: string | undefined;
  /** Where the run is shown: stdout belongs to the report if that goes there. */
  shownOn: NodeJS.WriteStream;
}

export function reportTarget({ report, reportFile: file, json }: ReportingFlags): ReportTarget {
  if (file !== undefined && existsSync(file) && statSync(file).isDirectory())
    throw invalid("--report-file", file, "a file, and this is a folder");
  const format = formatOf(report, file);
  if (file !== undefined) {
    const folder = realPlace(dirname(resolve(saysSomething("--report-file", file))));
    return { format, file, folder, shownOn: process.stdout };
  }
  if (json && format !== undefined)
    throw failure("report_choice", "--json and --report both want stdout", "give --report-file FILE");
  return { format, shownOn: format === undefined ? process.stdout : process.stderr };
}

/** A file without a format has that of its name. */
function formatOf(report: string | undefined, file = ""): ReportTarget["format"] {
  const format = FORMATS.find((name) => name === report);
  if (format !== undefined) return format;
  if (report !== undefined) throw invalid("--report", report, `one of ${FORMATS.join(", ")}`);
  if (/\.html?$/i.test(file))
    throw invalid("--report-file", file, "a .json or .md file (ralph report --html writes a page)");
  if (/\.(md|markdown)$/i.test(file)) return "markdown";
  return file === "" ? undefined : "json";
}

/** Writes the report that was asked for; in GitHub Actions also the summary and annotations of the job. */
export async function writeReports(target: ReportTarget, run: RunFolder, json = false): Promise<void> {
  const { format, file, shownOn } = target;
  const inActions = process.env["GITHUB_ACTIONS"] === "true";
  if (format === undefined && !inActions) return;
  // The run is over: a report that cannot be written does not change its outcome.
  const attempt = async (what: string, write: () => Promise<unknown>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      if (toRalphError(error) === undefined) throw error;
      note(`error: cannot write ${what}: ${describeSystemError(error)} (ralph report ${run.id} shows it)`);
    }
  };
  await attempt("the report", async () => {
    const { report } = await run.report();
    const { annotations, stepSummary, tellRunner } = await import("../views/report/markdown.js");
    const tell = (commands: string[], stream: NodeJS.WriteStream): void =>
      commands.forEach((command) => void tellRunner(stream, command));
    if (format !== undefined)
      await attempt(["the report", file ?? []].flat().join(" "), async () => {
        const commands = format === "github" ? annotations(report) : [];
        const text = format === "json" ? `${harmlessJson(report, 2)}\n` : await markdown(report);
        if (file !== undefined) return writeTo(target, run, [...commands, text].join("\n"));
        tell(commands, process.stdout);
        return await printAll(text);
      });
    if (!inActions) return;
    // With --report github, they are the report.
    if (file !== undefined || format !== "github") tell(annotations(report), json ? process.stderr : shownOn);
    const summary = process.env["GITHUB_STEP_SUMMARY"];
    if (summary)
      await attempt("the summary of the step", async () => {
        const size = statSync(summary, { throwIfNoEntry: false })?.size ?? 0;
        appendFileSync(summary, stepSummary(report, size));
      });
  });
}

async function markdown(report: Report): Promise<string> {
  return (await import("../views/report/markdown.js")).markdownReport(report);
}

/** Agents worked in the folder: no link of theirs may lead ralph elsewhere. */
function writeTo({ file = "", folder }: ReportTarget, run: RunFolder, text: string): void {
  const path = resolve(file);
  if (folder === undefined || realPlace(dirname(path)) !== folder)
    throw failure("report_moved", "its folder now points elsewhere");
  makeFolders(folder);
  const places = [process.cwd(), run.spec().workspace];
  const isInProject = places.some((place) => !relative(place, path).startsWith(".."));
  (isInProject ? writeFresh : writeFileSync)(join(folder, basename(path)), text);
}

/** The receipt of a run, for its page. */
async function receiptOf({ receipt }: Report): Promise<ShownReceipt | undefined> {
  if (receipt === null || !existsSync(receipt)) return undefined;
  const { readReceipt } = await import("../receipts/read.js");
  const text = readFileSync(receipt, "utf8");
  const said = orElse(() => readReceipt(text, receipt), undefined);
  return said && !said.isEdited ? { ...said, text } : undefined;
}

/** It is unknown here, or was copied from the fleet before it ended. */
function mayBeElsewhere(name: string): boolean {
  return orElse(() => existsSync(runsIn().find(name).elsewhere), true);
}

/** `ralph report [LOOP]`: the report of a run. */
export async function report(
  name: string | undefined,
  flags: PrintFlags & { markdown?: boolean; html?: string },
): Promise<number> {
  const { json, markdown: asMarkdown, html } = flags;
  const given = [json && "--json", asMarkdown && "--markdown", html !== undefined && "--html"].filter(
    Boolean,
  );
  if (html === "") throw invalid("--html", '""', "the name of a file, or - for stdout");
  const both = `${given.join(" and ")} exclude each other`;
  if (given.length > 1) throw failure("report_choice", both, "give one of them, or none for text");
  const { loopMeant, runOf } = await import("./find.js");
  // The records of a run in the fleet are brought here first.
  if (name !== undefined && mayBeElsewhere(name)) await (await import("../fleet/jobs.js")).fetchRecords(name);
  const run = runOf(loopMeant(name, "latest"));
  const { report: found, unreadable } = await run.report();
  if (unreadable > 0)
    warn(`the journal of run ${run.id} has ${unreadable} unreadable lines, which are left out`);
  run.revealHidden(found);
  if (asMarkdown) return printAll(await markdown(found));
  if (html === undefined)
    return printAs(flags, found, async () => {
      const { textReport } = await import("../views/report/text.js");
      return textReport(found, formatterFor(flags), process.stdout.columns);
    });
  const page = (await import("../views/report/html.js")).htmlReport(found, await receiptOf(found));
  if (html === "-") return printAll(page);
  if (!existsSync(dirname(resolve(html))))
    throw failure("folder_missing", `no such folder: ${dirname(html)}`, "make it first");
  writeFileSync(html, page);
  return say(`Report written to ${html}`);
}
