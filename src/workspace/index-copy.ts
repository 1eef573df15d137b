import { constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { toRalphError } from "../errors.js";
import { gitFolder } from "./git-folders.js";

/** For `git()`: its environment, and the settings that go before its command. */
export interface IndexCopy {
  env: { GIT_INDEX_FILE: string };
  settings: string[];
}

/**
 * `git diff` writes to the index that it looks at, also when it is told to take no locks: it gets a copy.
 * undefined where none can be made, as on a full disk.
 */
export async function withIndexCopy<Result>(
  root: string,
  use: (copy: IndexCopy) => Promise<Result>,
): Promise<Result | undefined> {
  const copy = copyOfIndex(root);
  if (copy === undefined) return undefined;
  try {
    // A split index would write its shared part beside the user's own.
    const settings = ["-c", "core.splitIndex=false"];
    return await use({ env: { GIT_INDEX_FILE: copy }, settings });
  } finally {
    rmSync(dirname(copy), { recursive: true, force: true });
  }
}

const INDEX = "index";

/** In a folder of its own. undefined where none can be made, as on a full disk. */
export function copyOfIndex(root: string): string | undefined {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "ralph-index-"));
    const own = join(gitFolder(root), INDEX);
    const copy = join(folder, INDEX);
    if (existsSync(own)) copyIndex(own, copy);
    return copy;
  } catch (error) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    if (toRalphError(error) === undefined) throw error;
    return undefined;
  }
}

/** A file that was edited after the index was written is told by the time of the index. */
function copyIndex(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  const time = Math.floor(statSync(from).mtimeMs / 1000);
  utimesSync(to, time, time);
}
