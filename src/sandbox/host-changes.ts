import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { git } from "../workspace/git.js";
import { ACTIVE_FILE, RUNTIME_FOLDER } from "../workspace/runtime.js";

/** How the files of a workspace look from outside. */
export interface Glance {
  head: string;
  files: Map<string, string>;
}

/** Written by ralph, and not seen by git. */
const OWN = [ACTIVE_FILE, join(RUNTIME_FOLDER, "progress.md")];
const MAX_BYTES = 1024 * 1024;
const MAX_FILES = 50;

export async function glance(workspace: string): Promise<Glance> {
  const [listing, head] = await Promise.all([
    git(workspace, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]),
    git(workspace, ["rev-parse", "HEAD"]),
  ]);
  const names = [...new Set([...listing.stdout.split("\0").filter(Boolean), ...OWN])];
  const entries = names.flatMap((name) => {
    const stat = statSync(join(workspace, name), { throwIfNoEntry: false });
    return stat?.isFile() ? [[name, `${stat.mtimeMs}:${stat.size}`] as const] : [];
  });
  return { head: head.stdout.trim(), files: new Map(entries) };
}

/** Files that are to be written inside, or `all` where that is not enough. */
export function changesSince(before: Glance, now: Glance): string[] | "all" {
  if (before.head !== now.head || [...before.files.keys()].some((name) => !now.files.has(name))) return "all";
  const changed = [...now.files]
    .filter(([name, look]) => before.files.get(name) !== look)
    .map(([name]) => name);
  return changed.length > MAX_FILES ? "all" : changed;
}

/** undefined: too large to be handed over. */
export function contentOf(path: string): string | undefined {
  return statSync(path).size > MAX_BYTES ? undefined : readFileSync(path, "utf8");
}
