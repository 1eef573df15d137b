import { existsSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { RalphError } from "../errors.js";
import { ralphHome } from "../records/home.js";
import type { Report } from "../records/report.js";
import { runsIn } from "../records/runs.js";
import { invalid } from "../settings/limits.js";
import { harmlessJson } from "../views/harmless.js";
import { latestRun } from "./find-run.js";
import { warn } from "./find-worker.js";
import { formatterFor, type OutputFlags, printAll } from "./output.js";

export interface ReportFlags extends Pick<OutputFlags, "json" | "color" | "emoji"> {
  markdown?: boolean;
  html?: string;
}

/** `ralph report [RUN]`: what a run came to. */
export async function report(name: string | undefined, flags: ReportFlags): Promise<number> {
  refuseSeveral(flags);
  const home = ralphHome();
  const run = name === undefined ? latestRun(home, process.cwd()) : runsIn(home).find(name);
  const { report: found, unreadable } = await run.report();
  if (unreadable > 0)
    warn(`the journal of run ${run.id} has ${unreadable} unreadable lines, which are left out`);
  if (flags.html !== undefined) return writePage(found, flags.html);
  await printAll(await rendered(found, flags));
  return 0;
}

async function rendered(found: Report, flags: ReportFlags): Promise<string> {
  if (flags.json) return `${harmlessJson(found, 2)}\n`;
  if (flags.markdown) return (await import("../views/report/markdown.js")).markdownReport(found);
  const { textReport } = await import("../views/report/text.js");
  return `${textReport(found, formatterFor(flags), process.stdout.columns).join("\n")}\n`;
}

/** `-` is stdout. */
async function writePage(found: Report, file: string): Promise<number> {
  const { htmlReport } = await import("../views/report/html.js");
  const page = htmlReport(found);
  if (file === "-") {
    await printAll(page);
    return 0;
  }
  if (!existsSync(dirname(resolve(file)))) {
    throw new RalphError(`no such folder: ${dirname(file)}`, {
      code: "folder_missing",
      hint: "make it first",
    });
  }
  writeFileSync(file, page);
  process.stdout.write(`Report written to ${file}\n`);
  return 0;
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
