import { readlinkSync, rmSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { RalphError } from "../errors.js";
import { entryAt, makeFolders, realPlace } from "../records/files.js";
import { invalid } from "../settings/limits.js";

/** Where a report is to go, as that was before an agent was at work. */
export interface ReportTarget {
  file: string;
  /** Its folder, without links: those that were there before are the user's own. */
  folder: string;
  /** Where the file itself led to. */
  link: string | undefined;
}

/** `since`: an agent has been at work from then on, and links of its making are not the user's. */
export function reportTarget(file: string, since?: Date): ReportTarget {
  const path = resolve(file);
  if (since !== undefined && hasLinkSince(dirname(path), since))
    throw invalid("--report-file", file, "a folder without links that are newer than the run");
  return { file, folder: realPlace(dirname(path)), link: linkAt(path) };
}

/** Makes the folders of the report. The agent was there before: a link of its making must not lead ralph elsewhere. */
export function openTarget({ file, folder, link }: ReportTarget, workspace: string): string {
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

function hasLinkSince(path: string, since: Date): boolean {
  const stat = entryAt(path);
  if (stat?.isSymbolicLink() && stat.ctime >= since) return true;
  return path !== dirname(path) && hasLinkSince(dirname(path), since);
}

function linkAt(path: string): string | undefined {
  const isLink = entryAt(path)?.isSymbolicLink();
  return isLink ? readlinkSync(path) : undefined;
}
