import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import type { ChecksSetup } from "../../verify/schedule.js";
import { textAt } from "../../workspace/content.js";
import { repositoryRoot } from "../../workspace/git.js";
import { lookAtWork, type Work } from "../../workspace/uncommitted.js";
import type { RecipeContext } from "../row.js";
import type { ReviewRules } from "./state.js";
import type { StoryFiles } from "./story-files.js";
import type { Rest, TrustedStore } from "./trusted.js";

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
  files: StoryFiles;
}

/** A run over them. */
export interface StoriesRun extends Stories, Omit<StoriesContext, keyof Stories> {
  /** Files that were put back and are not committed yet. */
  putBack: Set<string>;
  trusted: TrustedStore;
}

export function tasksText({ files, workspace }: Pick<Stories, "files" | "workspace">): string | undefined {
  return textAt(join(workspace, files.tasks));
}

/** The files of the stories as they are now; `tasks` is the text of tasks.json. */
export function restOf({ files, workspace }: Stories, tasks: string | undefined): Rest {
  const words = [files.prd, files.prompt, files.progress].map((file) => {
    const text = textAt(join(workspace, file));
    return [file, text === undefined ? "none" : createHash("sha256").update(text).digest("hex")];
  });
  return { ...(tasks !== undefined && { tasks }), others: Object.fromEntries(words) };
}

/** A file from the top of the repository on, as git names it. */
export function ownPath(workspace: string, file: string): string {
  return relative(repositoryRoot(workspace) ?? workspace, join(workspace, file));
}

/** undefined: git cannot tell. */
export async function workIn({ workspace, inRepository }: Stories): Promise<Work | undefined> {
  return inRepository ? lookAtWork(workspace) : { dirty: {} };
}
