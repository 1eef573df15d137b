import { existsSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { RalphError } from "../errors.js";
import { runsIn } from "../records/runs.js";
import { invalid } from "../settings/limits.js";
import { latestRun, warn } from "./find.js";
import { formatterFor, type LookFlags, printAll, printAs } from "./output.js";

interface ReportFlags extends LookFlags {
  markdown?: boolean;
  html?: string;
}

/** `ralph report [RUN]`: what a run came to. */
export async function report(name: string | undefined, flags: ReportFlags): Promise<number> {
  refuseSeveral(flags);
  const run = name === undefined ? latestRun() : runsIn().find(name);
  const { report: found, unreadable } = await run.report();
  if (unreadable > 0)
    warn(`the journal of run ${run.id} has ${unreadable} unreadable lines, which are left out`);
  if (flags.html !== undefined)
    await writePage((await import("../views/report/html.js")).htmlReport(found), flags.html);
  else if (flags.markdown)
    await printAll((await import("../views/report/markdown.js")).markdownReport(found));
  else
    await printAs(flags, found, async () => {
      const { textReport } = await import("../views/report/text.js");
      return textReport(found, formatterFor(flags), process.stdout.columns);
    });
  return 0;
}

/** `-` is stdout. */
async function writePage(page: string, file: string): Promise<void> {
  if (file === "-") return printAll(page);
  if (!existsSync(dirname(resolve(file)))) {
    throw new RalphError(`no such folder: ${dirname(file)}`, {
      code: "folder_missing",
      hint: "make it first",
    });
  }
  writeFileSync(file, page);
  process.stdout.write(`Report written to ${file}\n`);
}

function refuseSeveral({ json, markdown, html }: ReportFlags): void {
  const given = [json && "--json", markdown && "--markdown", html !== undefined && "--html"].filter(Boolean);
  if (html === "") throw invalid("--html", '""', "the name of a file, or - for stdout");
  if (given.length < 2) return;
  throw new RalphError(`${given.join(" and ")} exclude each other`, {
    code: "report_choice",
    hint: "give one of them, or none for text",
  });
}
