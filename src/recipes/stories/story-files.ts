import { createHash } from "node:crypto";
import { lstatSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { makeFolders, writeFresh } from "../../records/files.js";
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

export interface PutBack {
  workspace: string;
  /** Files that were put back and are not committed yet. */
  putBack: Set<string>;
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

/** What a file of the stories holds at the most: what an agent makes of it must not be too much for ralph. */
const MAX_BYTES = 5 * 1024 * 1024;

/** undefined where there is no plain file of that size: agents can put anything in its place, such as a pipe. */
export function readIfFile(path: string, maxBytes = MAX_BYTES): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= maxBytes ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** Puts a file in the place of whatever is there. */
export function replaceFile(workspace: string, name: string, content: string): void {
  const path = join(workspace, name);
  removeLinks(workspace, dirname(name));
  rmSync(path, { recursive: true, force: true });
  makeFolders(dirname(path));
  writeFresh(path, content);
}

/** The same where an agent's work is undone, which is committed later on. */
export function putFileBack({ workspace, putBack }: PutBack, name: string, content: string): void {
  replaceFile(workspace, name, content);
  putBack.add(name);
}

/** Through a link in the place of a folder ralph would write elsewhere. */
function removeLinks(workspace: string, folder: string): void {
  let path = workspace;
  if (folder === ".") return;
  for (const part of folder.split("/")) {
    path = join(path, part);
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(path);
  }
}

/** The files of the stories as they are now; `tasks` is the text of tasks.json. */
export function restOf(dir: string, workspace: string, tasks: string | undefined): Rest {
  const { prd, prompt, progress } = storyFiles(dir);
  const words = [prd, prompt, progress].map((file) => {
    const text = readIfFile(join(workspace, file));
    return [file, text === undefined ? "none" : createHash("sha256").update(text).digest("hex")];
  });
  return { ...(tasks !== undefined && { tasks }), others: Object.fromEntries(words) };
}

/** The same file from the top of the repository on, as git names it. */
export function ownPath(workspace: string, file: string): string {
  return relative(repositoryRoot(workspace) ?? workspace, join(workspace, file));
}
