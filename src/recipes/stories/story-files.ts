import { join } from "node:path";
import { ACTIVE_FILE } from "../../workspace/runtime.js";

/** Where the stories are unless the user says otherwise. */
export const STORIES_FOLDER = "ralph";

/** The files of a loop over stories, as names from the workspace on. */
export function storyFiles(dir: string) {
  return {
    tasks: join(dir, "tasks.json"),
    prd: join(dir, "prd.md"),
    progress: join(dir, "progress.txt"),
    prompt: join(dir, "prompt.md"),
    active: ACTIVE_FILE,
  };
}

export type StoryFiles = ReturnType<typeof storyFiles>;
