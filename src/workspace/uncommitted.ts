import { git } from "./git.js";
import { RUNTIME_FOLDER } from "./runtime.js";

/** Written while a loop over stories runs, for hooks and for the curious. Never committed. */
export const ACTIVE_FILE = ".ralph-active";

const PATHS = [
  ".",
  ...[`**/${RUNTIME_FOLDER}`, `**/${RUNTIME_FOLDER}/**`, `**/${ACTIVE_FILE}`].map(
    (path) => `:(exclude,glob)${path}`,
  ),
];

/** A program that the repository names would say what git believes. */
const TRUSTED = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false"];

/**
 * What is not committed in the workspace, new files included, from the top of the repository on. Files of
 * ralph's own are left out. undefined where git cannot tell.
 */
export async function uncommittedFiles(workspace: string): Promise<string[] | undefined> {
  const args = [
    "status",
    "--porcelain",
    "-z",
    "--no-renames",
    "--untracked-files=normal",
    "--ignore-submodules=dirty",
    "--",
    ...PATHS,
  ];
  const { ok, stdout } = await git(workspace, [...TRUSTED, ...args]);
  if (!ok) return undefined;
  return stdout
    .split("\0")
    .filter(Boolean)
    .map((entry) => entry.slice(3));
}
