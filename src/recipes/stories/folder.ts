import { appendFileSync, existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { RalphError } from "../../errors.js";
import { inPackage } from "../../package-folder.cjs";
import { makeFolders, realPlace, writeFresh } from "../../records/files.js";
import { ralphHome } from "../../records/home.js";
import { lockHolder } from "../../records/lock.js";
import { type RunFolder, runsIn } from "../../records/runs.js";
import { addStories, type StoryReport } from "../../records/stories.js";
import { isTree, type Tree } from "../../settings/merge.js";
import { textAt } from "../../workspace/content.js";
import { ACTIVE_FILE } from "../../workspace/runtime.js";
import { readAnyText } from "../text-file.js";
import { readTrusted, STORIES_FOLDER, storyFiles } from "./run.js";
import { mistakes, readTasks, type TaskList, treeIn } from "./tasks.js";

/** Where the stories of a project are. */
export interface StoriesFolder {
  /** The project. */
  project: string;
  /** The folder of the stories, from the project on. */
  dir: string;
}

export interface FolderFlags {
  projectDir?: string;
  ralphDir?: string;
}

export function storiesFolder({ projectDir = ".", ralphDir = STORIES_FOLDER }: FolderFlags): StoriesFolder {
  const given = resolve(projectDir);
  if (!existsSync(given) || !statSync(given).isDirectory())
    throw new RalphError(`no such project folder: ${projectDir}`, { code: "folder_missing" });
  const project = realpathSync(given);
  const dir = relative(project, resolve(project, ralphDir));
  // A repository can bring a link in its place or above it: what ralph writes must not land elsewhere.
  if (isBelow(dir) && isBelow(relative(project, realPlace(resolve(project, dir))))) return { project, dir };
  throw new RalphError(`--ralph-dir ${ralphDir}: expected a folder inside the project`, {
    code: "flag_invalid",
  });
}

function isBelow(path: string): boolean {
  return path !== "" && !path.startsWith("..") && !isAbsolute(path);
}

/** The same where the stories have to be there. */
export function existingStories(flags: FolderFlags): StoriesFolder {
  const folder = storiesFolder(flags);
  if (existsSync(resolve(folder.project, folder.dir))) return folder;
  throw new RalphError(`no ${folder.dir} folder in ${folder.project}`, {
    code: "stories_missing",
    hint: "ralph stories init makes it",
  });
}

/** Nobody takes the stories away from a run that works on them. */
export function refuseAtWork({ project }: StoriesFolder): void {
  const holder = lockHolder(ralphHome(), { workspace: project });
  if (holder === undefined) return;
  throw new RalphError(`run ${holder.run} (pid ${holder.pid}) is at work here`, {
    code: "workspace_in_use",
    hint: "wait for it, or stop it first",
  });
}

export const PARTS = ["prd", "tasks", "progress", "prompt"] as const;
export type Part = (typeof PARTS)[number];

function template(part: Part): string {
  const name = basename(storyFiles("")[part]);
  return readFileSync(inPackage(`plugin/templates/${name}`), "utf8");
}

interface SetUp {
  /** Name of the feature. */
  name?: string | undefined;
  /** Parts that are written even where something is there already. */
  replace?: Part[];
}

/** Writes the templates that are not there yet, and the line in .gitignore. Returns the names of what was written. */
export function writeTemplates(folder: StoriesFolder, { name, replace = [] }: SetUp = {}): string[] {
  const { project, dir } = folder;
  const files = storyFiles(dir);
  makeFolders(join(project, dir));
  const written = PARTS.filter((part) => replace.includes(part) || !existsSync(join(project, files[part])));
  const date = new Date().toISOString().slice(0, 10);
  for (const part of written) {
    const filled = template(part)
      .replaceAll("{{DATE}}", date)
      .replaceAll("{{PROJECT_NAME}}", () => name ?? basename(project));
    writeFresh(join(project, files[part]), part === "tasks" ? tasksTemplate(folder, name) : filled);
  }
  return [...written.map((part) => files[part]), ...(ignoreActiveFile(project) ? [".gitignore"] : [])];
}

/** What somebody wrote around stories that are still the template's stays. */
function tasksTemplate(folder: StoriesFolder, name: string | undefined): string {
  const { userStories, ...fresh } = treeIn(template("tasks"));
  const { userStories: _, ...kept } = isUntouched(folder, "tasks") ? treeIn(textOf(folder, "tasks")) : {};
  const named = name === undefined ? {} : { project: name, branchName: `ralph/${name}` };
  const list = { ...fresh, project: basename(folder.project), ...kept, ...named, userStories };
  return `${JSON.stringify(list, null, 2)}\n`;
}

function textOf({ project, dir }: StoriesFolder, part: Part): string | undefined {
  return textAt(join(project, storyFiles(dir)[part]));
}

/** Whether a file is as the template left it, whenever and under whatever name that was. */
export function isUntouched(folder: StoriesFolder, part: Part): boolean {
  const text = textOf(folder, part);
  if (part === "tasks")
    return isDeepStrictEqual(treeIn(text)["userStories"], treeIn(template(part))["userStories"]);
  const lines = text?.split("\n") ?? [];
  const wanted = template(part).split("\n");
  return (
    lines.length === wanted.length &&
    wanted.every((line, index) => line.includes("{{") || line === lines[index])
  );
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

/** A list of stories that knows no reviews, such as a prd.json; `passed`: have to be reviewed here. */
export function importStories(file: string): { tasks: TaskList; passed: string[] } {
  const passed: string[] = [];
  const { tasks, findings } = readTasks(readAnyText("stories", file, "."), file, (value) => {
    if (!isTree(value) || !Array.isArray(value["userStories"])) return value;
    return {
      project: value["project"] ?? "",
      branchName: value["branchName"] ?? "ralph/feature-name",
      description: value["description"] ?? "",
      verifyCommands: value["verifyCommands"] ?? [],
      userStories: value["userStories"].map((story: unknown, index) => {
        if (!isTree(story)) return story;
        if (story["passes"] === true) passed.push(String(story["id"]));
        return withReviewFields(story, index);
      }),
    };
  });
  if (tasks !== undefined && findings.length === 0) return { tasks, passed };
  throw new RalphError(`cannot import: ${mistakes(file, findings)}`, { code: "import_invalid" });
}

/** A story that nobody has reviewed is not done, whatever was said of it. */
function withReviewFields(story: Tree, index: number): Tree {
  const { passes = false, notes } = story;
  return {
    description: "",
    priority: index + 1,
    notes: "",
    dependsOn: [],
    ...story,
    ...(passes === true && notes === "" && { notes: "imported as passed" }),
    passes: passes === true ? false : passes,
    reviewStatus: passes === true ? "needs_review" : null,
    reviewCount: 0,
    reviewFeedback: "",
  };
}

/** Every run over these stories, the oldest first; `workspace`: only those in the folder itself. */
export function runsOf(
  home: string,
  { project, dir }: StoriesFolder,
  where: "workspace" | "anywhere",
): RunFolder[] {
  return runsIn(home)
    .list()
    .filter((folder) => {
      try {
        const { recipe, workspace, origin } = folder.spec();
        const places = where === "workspace" ? [workspace] : [workspace, origin];
        return recipe.kind === "stories" && "dir" in recipe && recipe.dir === dir && places.includes(project);
      } catch {
        return false;
      }
    });
}

/** What runs of another feature spent on a story that had this id is not counted. */
export async function spentOn(
  runs: RunFolder[],
  { userStories }: TaskList,
): Promise<Map<string, StoryReport>> {
  const all = runs.map(async (run) => {
    const titles = titlesIn(run);
    const own = new Set(userStories.filter(({ id, title }) => titles.get(id) === title).map(({ id }) => id));
    return (await run.report()).report.stories.filter(({ story }) => own.has(story));
  });
  return addStories(await Promise.all(all));
}

function titlesIn({ path }: RunFolder): Map<string, string> {
  try {
    const trusted = readTrusted(path);
    const stories = (trusted?.after ?? trusted?.before)?.userStories ?? [];
    return new Map(stories.map(({ id, title }) => [id, title]));
  } catch {
    return new Map();
  }
}
