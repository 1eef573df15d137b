import { constants, copyFileSync, cpSync, existsSync, lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { RalphError } from "../../errors.js";
import { git } from "../git.js";
import type { Git } from "./own-git.js";

export const INCLUDE_FILE = ".worktreeinclude";

/** Untracked files that work needs, such as `.env`: patterns as in `.gitignore`. Relative to the top folder. */
async function includedFiles(root: string): Promise<string[]> {
  if (!existsSync(join(root, INCLUDE_FILE))) return [];
  const list = ["ls-files", "--others", "--ignored", `--exclude-from=${INCLUDE_FILE}`, "-z"];
  const { ok, stdout, stderr } = await git(root, list);
  if (ok) return stdout.split("\0").filter(Boolean);
  throw new RalphError(`cannot use ${INCLUDE_FILE}: ${stderr.trim()}`, { code: "include_file" });
}

/** What is there already is left as it is. Returns what was copied. */
export async function copyIncluded(from: string, to: string): Promise<string[]> {
  const copied: string[] = [];
  for (const file of await includedFiles(from)) {
    const [source, target] = [join(from, file), join(to, file)];
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) continue;
    mkdirSync(dirname(target), { recursive: true });
    if (lstatSync(source).isFile()) copyFileSync(source, target, constants.COPYFILE_FICLONE);
    else cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    copied.push(file);
  }
  return copied;
}

/** Those of the files that git would add. */
export async function notIgnored(inTree: Git, files: string[]): Promise<string[]> {
  if (files.length === 0) return [];
  const { stdout } = await inTree(["ls-files", "--others", "--exclude-standard", "-z"]);
  const untracked = new Set(stdout.split("\0"));
  return files.filter((file) => untracked.has(file));
}
