import { which } from "../../process/which.js";
import { clockFinding } from "./clock.js";
import type { DoctorContext } from "./context.js";
import type { Finding } from "./finding.js";
import { installCommand } from "./install.js";
import { askVersion } from "./probe.js";
import { projectFinding, projectPlace, recordsFinding, tryToWrite } from "./storage.js";

/** Node, tmux, the disks and the clock. */
export async function examineSystem(context: DoctorContext): Promise<Finding[]> {
  const [tmux, records, project] = await Promise.all([
    tmuxFinding(context),
    // Where the next run is kept: what is above may be writable when it is not.
    tryToWrite(`${context.records}/runs`),
    tryToWrite(projectPlace(context.workspace)),
  ]);
  return [
    nodeFinding(context),
    tmux,
    recordsFinding(context, records),
    projectFinding(context, project),
    clockFinding(
      context,
      [records, project].flatMap(({ skewMs }) => skewMs ?? []),
    ),
  ];
}

export function nodeFinding({ node: { version, path, needed } }: DoctorContext): Finding {
  const base = { name: "node", version, path };
  if (isAtLeast(version, needed)) return { ...base, status: "ok", message: `${version} at ${path}` };
  const message = `${version} at ${path} is too old: ralph needs ${needed}`;
  return { ...base, status: "problem", message, fix: "install a newer Node.js: https://nodejs.org" };
}

function isAtLeast(version: string, range: string): boolean {
  const [major = 0, minor = 0] = numbersIn(version);
  const [neededMajor = 0, neededMinor = 0] = numbersIn(range);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

function numbersIn(text: string): number[] {
  return (text.match(/\d+/g) ?? []).map(Number);
}

async function tmuxFinding(context: DoctorContext): Promise<Finding> {
  const found = which("tmux", context.workspace, context.env["PATH"]);
  const fix = installCommand(context, "tmux");
  if (found.status !== "found") {
    const message = "not installed: it keeps a loop alive when the terminal closes";
    return { name: "tmux", status: "warning", message, fix, installed: false };
  }
  const { path } = found;
  const answer = await askVersion(context, path, "-V");
  const base = { name: "tmux", installed: true, path };
  if (answer.status !== "answered")
    return { ...base, status: "warning", message: `tmux -V: ${answer.why}`, fix };
  return { ...base, status: "ok", message: `${answer.version} at ${path}`, version: answer.version };
}
