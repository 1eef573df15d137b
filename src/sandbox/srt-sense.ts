import { statSync } from "node:fs";
import { RalphError } from "../errors.js";
import { capture } from "../process/capture.js";
import { withOuterPath } from "../process/outer-path.js";

interface Paths {
  allowed: string[];
  hidden: string[];
  kept: string[];
  secrets: string[];
}

/** Settings that would not be held, or that leave nothing to work on, are refused before an agent starts. */
export function insistOnSense(workspace: string, { allowed, hidden, kept, secrets }: Paths): void {
  const around = hidden.find((path) => isIn(workspace, path));
  if (around !== undefined) throw wrong("denyRead", `${around} holds the project itself`);
  const above = kept.find((path) => path !== workspace && isIn(workspace, path));
  if (above !== undefined) throw wrong("denyWrite", `${above} holds the project itself`);
  const pattern = kept.find((path) => path.includes("*"));
  if (pattern !== undefined) throw wrong("denyWrite", `${pattern} is a pattern, and only paths are taken`);
  const opened = allowed.find((path) => [...hidden, ...secrets].some((denied) => isIn(path, denied)));
  if (opened !== undefined) throw wrong("allowWrite", `${opened} is among what must not be read`);
}

/** An agent that sees an empty folder in its place would commit that all of its files are gone. */
export async function insistOnRepository(workspace: string, hidden: string[]): Promise<void> {
  const folders = hidden.filter((path) => isIn(path, workspace) && isFolder(path));
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

function isIn(path: string, folder: string): boolean {
  return `${path}/`.startsWith(folder === "/" ? folder : `${folder}/`);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
