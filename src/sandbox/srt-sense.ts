import { join } from "node:path";
import { RalphError } from "../errors.js";
import { capture } from "../process/capture.js";
import { withOuterPath } from "../process/outer-path.js";
import { realPlace } from "../records/files.js";

/** Of the settings, in full, and what they cannot change. */
export interface Paths {
  allowed: string[];
  hidden: string[];
  kept: string[];
  secrets: string[];
  /** What is never written: ralph's own files, and those that other programs obey. */
  own: string[];
}

/** Settings that would not be held, or that leave nothing to work on, are refused before a run. */
export function insistOnSense(workspace: string, { allowed, hidden, kept, secrets, own }: Paths): void {
  const around = hidden.find((path) => leadsInto(workspace, path));
  if (around !== undefined) throw wrong("denyRead", `${around} holds the project itself`);
  const repository = hidden.find((path) => leadsInto(join(workspace, ".git"), path));
  if (repository !== undefined) throw wrong("denyRead", `${repository} holds the repository itself`);
  const above = kept.find((path) => path !== workspace && leadsInto(workspace, path));
  if (above !== undefined) throw wrong("denyWrite", `${above} holds the project itself`);
  const pattern = kept.find((path) => path.includes("*"));
  if (pattern !== undefined) throw wrong("denyWrite", `${pattern} is a pattern, and only paths are taken`);
  const within = (folders: string[]): string | undefined =>
    allowed.find((path) => folders.some((denied) => leadsInto(path, denied)));
  const unread = within([...hidden, ...secrets]);
  if (unread !== undefined) throw wrong("allowWrite", `${unread} is among what must not be read`);
  const denied = within(kept);
  if (denied !== undefined) throw wrong("allowWrite", `${denied} is among what denyWrite names`);
  const fixed = within(own);
  if (fixed !== undefined) throw wrong("allowWrite", `${fixed} is among what no agent may write`);
}

/** By its name, or where its links lead. */
function leadsInto(path: string, folder: string): boolean {
  return isIn(path, folder) || isIn(realPlace(path), realPlace(folder));
}

/** An agent that sees an empty folder in its place would commit that all of its files are gone. */
export async function insistOnRepository(workspace: string, hidden: string[]): Promise<void> {
  const folders = hidden.filter((path) => isIn(path, workspace));
  if (folders.length === 0) return;
  const env = withOuterPath(process.env, workspace);
  const args = ["ls-files", "-z", "--", ...folders];
  const { ok, stdout } = await capture({ file: "git", args, cwd: workspace, env });
  if (ok && stdout !== "")
    throw wrong(
      "denyRead",
      `${folders.join(", ")} has files of the repository, and they would seem to be gone`,
    );
}

function wrong(name: string, why: string): RalphError {
  return new RalphError(`sandbox.filesystem.${name}: ${why}`, {
    code: "sandbox_failed",
    hint: "docs/sandbox.md says what can be asked for",
  });
}

export function isIn(path: string, folder: string): boolean {
  return `${path}/`.startsWith(folder === "/" ? folder : `${folder}/`);
}
