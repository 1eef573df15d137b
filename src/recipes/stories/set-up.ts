import { appendFileSync, existsSync, lstatSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { RalphError } from "../../errors.js";
import { makeFolders, writeFresh } from "../../records/files.js";
import { isTree } from "../../settings/merge.js";
import { textAt } from "../../workspace/content.js";
import { ACTIVE_FILE } from "../../workspace/uncommitted.js";
import type { StoriesPlace } from "./folder.js";
import { storyFiles } from "./story-files.js";

const TEMPLATES = new URL("../../../plugin/templates/", import.meta.url);

export type Part = "prd" | "tasks" | "progress" | "prompt";
const PARTS: Record<Part, string> = {
  prd: "prd.md",
  tasks: "tasks.json",
  progress: "progress.txt",
  prompt: "prompt.md",
};

export interface SetUp {
  /** Name of the feature. */
  name?: string | undefined;
  /** Parts that are written, also where something is there already. */
  replace: Part[];
}

/** Writes the templates that are not there yet. Returns the names of what was written. */
export function writeTemplates({ project, dir }: StoriesPlace, { name, replace }: SetUp): string[] {
  const files = storyFiles(dir);
  makeFolders(join(project, dir));
  return (Object.keys(PARTS) as Part[]).flatMap((part) => {
    const path = join(project, files[part]);
    if (existsSync(path) && !replace.includes(part)) return [];
    writeFresh(
      path,
      part === "tasks" ? tasksTemplate({ project, dir }, name) : template(part, name, project),
    );
    return [files[part]];
  });
}

/** Parts in which somebody has written something. */
export function writtenParts(place: StoriesPlace): Part[] {
  const files = storyFiles(place.dir);
  return (Object.keys(PARTS) as Part[]).filter(
    (part) => existsSync(join(place.project, files[part])) && !isUntouched(place, part),
  );
}

/** Whether a file is as the template left it, whenever and under whatever name that was. */
export function isUntouched({ project, dir }: StoriesPlace, part: Part): boolean {
  const text = textAt(join(project, storyFiles(dir)[part]));
  const wanted = readFileSync(new URL(PARTS[part], TEMPLATES), "utf8");
  if (text === undefined) return false;
  if (part !== "tasks") return new RegExp(`^${patternOf(wanted)}$`).test(text);
  try {
    const stories = (json: string): unknown => (JSON.parse(json) as { userStories?: unknown }).userStories;
    return isDeepStrictEqual(stories(text), stories(wanted));
  } catch {
    return false;
  }
}

function patternOf(text: string): string {
  return text
    .split(/\{\{\w+\}\}/)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
    .join("[^\\n]*");
}

function template(part: Part, name: string | undefined, project: string): string {
  const text = readFileSync(new URL(PARTS[part], TEMPLATES), "utf8");
  const date = new Date().toISOString().slice(0, 10);
  return text.replaceAll("{{DATE}}", date).replaceAll("{{PROJECT_NAME}}", () => name ?? basename(project));
}

/** What somebody wrote around stories that are still the template's stays. */
function tasksTemplate(place: StoriesPlace, name: string | undefined): string {
  const { userStories, ...fresh } = listIn(readFileSync(new URL(PARTS.tasks, TEMPLATES), "utf8"));
  const there = textAt(join(place.project, storyFiles(place.dir).tasks)) ?? "{}";
  const { userStories: _, ...kept } = isUntouched(place, "tasks") ? listIn(there) : {};
  const named = name === undefined ? {} : { project: name, branchName: `ralph/${name}` };
  const list = { ...fresh, project: basename(place.project), ...kept, ...named, userStories };
  return `${JSON.stringify(list, null, 2)}\n`;
}

function listIn(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return isTree(value) ? value : {};
}

/** A name that can be the end of a branch. */
export function checkedName(name: string | undefined): string | undefined {
  const isFine =
    name === undefined ||
    (/^[A-Za-z0-9_][\w./-]*$/.test(name) && !/\.\.|\/\/|\/\.|[./]$|\.lock(\/|$)/.test(name));
  if (isFine) return name;
  throw new RalphError(`--name ${JSON.stringify(name)}: expected a name that can be the end of a branch`, {
    code: "flag_invalid",
    hint: "letters, digits, -, _, . and /, such as checkout-flow",
  });
}

/** true: the line was not there yet. A link is left alone, as git itself follows none there. */
export function ignoreActiveFile(project: string): boolean {
  const path = join(project, ".gitignore");
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return false;
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (text.split(/\r?\n/).some((line) => line.trim().replace(/^\//, "") === ACTIVE_FILE)) return false;
  appendFileSync(path, `${text === "" || text.endsWith("\n") ? "" : "\n"}${ACTIVE_FILE}\n`);
  return true;
}
