import { existsSync, writeFileSync } from "node:fs";
import { RalphError } from "../errors.js";
import { readSpec } from "../host/spec.js";
import { ralphHome } from "../state/home.js";
import { readEvents } from "../state/read-events.js";
import { type RunFolder, readRun } from "../state/runs.js";
import { type Report, reportOf } from "../views/report/model.js";
import { findRun, latestRun, runStatus } from "./find-run.js";
import { formatterFor, type OutputFlags, printAll } from "./output.js";

export interface ReportFlags extends Pick<OutputFlags, "json" | "color" | "emoji"> {
  markdown?: boolean;
  html?: string;
}

/** `ralph report [RUN]`: what a run came to. */
export async function report(name: string | undefined, flags: ReportFlags): Promise<number> {
  refuseSeveral(flags);
  const home = ralphHome();
  const folder = name === undefined ? latestRun(home, process.cwd()) : findRun(home, name);
  const found = readReport(home, folder);
  if (flags.html !== undefined) return writePage(found, flags.html);
  await printAll(await rendered(found, flags));
  return 0;
}

export function readReport(home: string, folder: RunFolder): Report {
  const { recipe, agent, workspace, limits, createdAt } = readSpec(folder);
  const reading = readRun(folder);
  if (reading !== undefined && reading.unreadable > 0) {
    process.stderr.write(`ralph: warning: ${folder.journal} has unreadable lines, which are left out\n`);
  }
  const status = runStatus(home, folder, workspace, reading?.state);
  const start = { run: folder.id, recipe: recipe.kind, agent: agent.name, workspace, limits, status };
  const events = existsSync(folder.journal) ? readEvents(folder.journal) : [];
  return reportOf({ ...start, startedAt: createdAt }, events);
}

async function rendered(found: Report, flags: ReportFlags): Promise<string> {
  if (flags.json) return `${JSON.stringify(found, null, 2)}\n`;
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
  writeFileSync(file, page);
  process.stdout.write(`Report written to ${file}\n`);
  return 0;
}

function refuseSeveral({ json, markdown, html }: ReportFlags): void {
  const given = [json && "--json", markdown && "--markdown", html !== undefined && "--html"].filter(Boolean);
  if (given.length < 2) return;
  throw new RalphError(`${given.join(" and ")} exclude each other`, {
    code: "report_choice",
    hint: "give one of them, or none for text",
  });
}
