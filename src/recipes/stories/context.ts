import { join, relative } from "node:path";
import type { ChecksSetup } from "../../verify/schedule.js";
import { textAt } from "../../workspace/content.js";
import { repositoryRoot } from "../../workspace/git.js";
import { ACTIVE_FILE } from "../../workspace/runtime.js";
import { lookAtWork, type Work } from "../../workspace/uncommitted.js";
import type { RecipeContext } from "../row.js";
import type { ReviewRules } from "./state.js";

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

export interface StoriesSpec extends ReviewRules {
  kind: "stories";
  /** The folder with tasks.json, from the workspace on. */
  dir: string;
  /** Whether reviews are asked of another agent. */
  hasReviewer: boolean;
  /** What was not committed when the run began, outside of that folder. */
  dirty: string[];
}

/** The role of the agent that reviews, where it is another one. */
export const REVIEWER = "reviewer";

export interface StoriesContext
  extends ChecksSetup,
    Pick<RecipeContext, "records" | "folderFor">,
    Partial<Pick<RecipeContext, "isShutIn" | "agentSandbox">> {
  /** Whether git has to be able to tell what is committed. */
  inRepository: boolean;
}

/** The stories of a workspace, and the rules that hold for them. */
export interface Stories extends Pick<StoriesContext, "workspace" | "inRepository"> {
  spec: StoriesSpec;
  files: ReturnType<typeof storyFiles>;
}

export function tasksText({ files, workspace }: Stories): string | undefined {
  return textAt(join(workspace, files.tasks));
}

/** A file from the top of the repository on, as git names it. */
export function ownPath(workspace: string, file: string): string {
  return relative(repositoryRoot(workspace) ?? workspace, join(workspace, file));
}

/** undefined: git cannot tell. */
export async function workIn({ workspace, inRepository }: Stories): Promise<Work | undefined> {
  return inRepository ? lookAtWork(workspace) : { dirty: {} };
}
