import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeFolders, writeFresh } from "../../state/files.js";
import { ACTIVE_FILE } from "../../workspace/uncommitted.js";

/** The files of a loop over stories, as names from the workspace on. */
export interface StoryFiles {
  tasks: string;
  prd: string;
  progress: string;
  prompt: string;
  active: string;
}

/** Where they are unless the user says otherwise. */
export const STORIES_FOLDER = "ralph";

export function storyFiles(dir: string): StoryFiles {
  return {
    tasks: join(dir, "tasks.json"),
    prd: join(dir, "prd.md"),
    progress: join(dir, "progress.txt"),
    prompt: join(dir, "prompt.md"),
    active: ACTIVE_FILE,
  };
}

/** undefined where there is no plain file: agents can put anything in its place, such as a pipe. */
export function readIfFile(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** Puts a file in the place of whatever is there. */
export function replaceFile(path: string, content: string): void {
  rmSync(path, { recursive: true, force: true });
  makeFolders(join(path, ".."));
  writeFresh(path, content);
}
