import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import { textAt } from "../../workspace/content.js";
import { repositoryRoot } from "../../workspace/git.js";
import { ACTIVE_FILE } from "../../workspace/uncommitted.js";
import type { Rest } from "./trusted.js";

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

/** The files of the stories as they are now; `tasks` is the text of tasks.json. */
export function restOf(dir: string, workspace: string, tasks: string | undefined): Rest {
  const { prd, prompt, progress } = storyFiles(dir);
  const words = [prd, prompt, progress].map((file) => {
    const text = textAt(join(workspace, file));
    return [file, text === undefined ? "none" : createHash("sha256").update(text).digest("hex")];
  });
  return { ...(tasks !== undefined && { tasks }), others: Object.fromEntries(words) };
}

/** The same file from the top of the repository on, as git names it. */
export function ownPath(workspace: string, file: string): string {
  return relative(repositoryRoot(workspace) ?? workspace, join(workspace, file));
}
