import { appendFileSync, existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Lexer, type Token, type Tokens } from "marked";
import { RalphError } from "../../errors.js";
import { inPackage } from "../../package-folder.cjs";
import { makeFolders, realPlace, writeFresh } from "../../records/files.js";
import { ralphHome } from "../../records/home.js";
import { lockHolder } from "../../records/lock.js";
import { textAt } from "../../workspace/content.js";
import { ACTIVE_FILE } from "../../workspace/runtime.js";
import { STORIES_FOLDER, storyFiles } from "./state.js";
import { treeIn } from "./tasks.js";

export interface StoriesFolder {
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
  const isBelow = dir !== "" && !dir.startsWith("..") && !isAbsolute(dir);
  // A repository can bring a link in its place or above it: what ralph writes must not land elsewhere.
  if (isBelow && realPlace(join(project, dir)) === join(project, dir)) return { project, dir };
  const message = `--ralph-dir ${ralphDir}: expected a folder inside the project, and no link`;
  throw new RalphError(message, { code: "flag_invalid" });
}

/** The same where the stories have to be there. */
export function existingStories(flags: FolderFlags): StoriesFolder {
  const folder = storiesFolder(flags);
  if (existsSync(resolve(folder.project, folder.dir))) return folder;
  throw new RalphError(`no ${folder.dir} folder in ${folder.project}`, {
    code: "stories_missing",
    hint: "ralph stories init creates it",
  });
}

/** Nobody takes the stories away from a run that works on them. */
export function refuseAtWork({ project }: StoriesFolder): void {
  const holder = lockHolder(ralphHome(), { workspace: project });
  if (holder === undefined) return;
  throw new RalphError(`run ${holder.run} (pid ${holder.pid}) is running here`, {
    code: "workspace_in_use",
    hint: "wait for it, or stop it first",
  });
}

export const PARTS = ["prd", "tasks", "progress", "prompt"] as const;
type TemplatePart = (typeof PARTS)[number];

function template(part: TemplatePart): string {
  const name = basename(storyFiles("")[part]);
  return readFileSync(inPackage(`plugin/templates/${name}`), "utf8");
}

/** Writes the missing templates and those to `replace`, and the line in .gitignore; returns what it wrote. */
export function writeTemplates(
  folder: StoriesFolder,
  { name, replace = [] }: { name?: string | undefined; replace?: TemplatePart[] } = {},
): string[] {
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
  const kept = isUntouched(folder, "tasks") ? treeIn(textOf(folder, "tasks")) : {};
  const project = basename(folder.project);
  const branchName = `ralph/${slug(project) || "stories"}`;
  const named = name === undefined ? {} : { project: name, branchName: `ralph/${name}` };
  const list = { ...fresh, project, branchName, ...kept, ...named, userStories };
  return `${JSON.stringify(list, null, 2)}\n`;
}

function textOf({ project, dir }: StoriesFolder, part: TemplatePart): string | undefined {
  return textAt(join(project, storyFiles(dir)[part]));
}

/** Whether a file is as the template left it, whenever and under whatever name that was. */
export function isUntouched(folder: StoriesFolder, part: TemplatePart): boolean {
  const [text, wanted] = [textOf(folder, part), template(part)];
  if (part === "tasks") return isDeepStrictEqual(treeIn(text)["userStories"], treeIn(wanted)["userStories"]);
  const lines = text?.split("\n") ?? [];
  const filled = wanted.split("\n").map((line, index) => (line.includes("{{") ? lines[index] : line));
  return isDeepStrictEqual(lines, filled);
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

interface DraftStory {
  id?: string;
  title: string;
  description: string;
  acceptanceCriteria: string[];
  passes: boolean;
}

/** `US-001: Add the cart` */
const NUMBERED = /^([A-Z][A-Z\d]*-\d+)\s*[:.)–—-]*\s+(\S.*)$/;

/** Each item of a checklist is a story, items below it its criteria; so are those below `US-001: …`. */
export function storiesOfChecklist(text: string, name: string) {
  const tokens = new Lexer().lex(text.replace(/^\uFEFF/, ""));
  const title = tokens.find((token) => isHeading(token) && !NUMBERED.test(plain(token.text)));
  const project = title && isHeading(title) ? plain(title.text) : name;
  const branchName = `ralph/${slug(project) || "feature"}`;
  return { project, branchName, userStories: numbered(writtenIn(tokens)) };
}

function writtenIn(tokens: Token[]): DraftStory[] {
  const stories: DraftStory[] = [];
  let open: ReturnType<typeof openedBy>;
  for (const token of tokens) {
    if (isHeading(token)) {
      const opened = openedBy(token);
      if (opened !== undefined) stories.push(opened.story);
      // A heading of the same depth ends a story.
      if (opened !== undefined || (open !== undefined && token.depth <= open.depth)) open = opened;
    } else if (open !== undefined) addTo(open.story, token);
    else if (isList(token)) stories.push(...token.items.flatMap(storyOfItem));
  }
  return stories;
}

function fresh(title: string): DraftStory {
  return { title, description: "", acceptanceCriteria: [], passes: false };
}

function openedBy({ text, depth }: Tokens.Heading) {
  const [, id, title = ""] = NUMBERED.exec(plain(text)) ?? [];
  return id === undefined ? undefined : { story: { ...fresh(title), id }, depth };
}

function storyOfItem(item: Tokens.ListItem): DraftStory[] {
  if (!item.task) return [];
  const [, id, title] = NUMBERED.exec(itemText(item)) ?? [];
  const below = item.tokens.filter(isList).flatMap(({ items }) => items.map(itemText));
  const story = {
    ...fresh(title ?? itemText(item)),
    acceptanceCriteria: below,
    passes: item.checked === true,
  };
  return [{ ...story, ...(id !== undefined && { id }) }];
}

function addTo(story: DraftStory, token: Token): void {
  if (isList(token)) {
    story.acceptanceCriteria.push(...token.items.map(itemText));
    story.passes = token.items.every(({ task, checked }) => task && checked);
  }
  const text = token.type === "paragraph" ? plain((token as Tokens.Paragraph).text) : "";
  // A label such as `Acceptance criteria:` says nothing of the story.
  if (!text.endsWith(":")) story.description = [story.description, text].filter(Boolean).join(" ");
}

/** A story without a criterion is done when its title is true. */
function numbered(stories: DraftStory[]) {
  const taken = new Set(stories.map(({ id }) => id));
  let number = 0;
  const free = (): string => {
    do number += 1;
    while (taken.has(idOf(number)));
    return idOf(number);
  };
  return stories.map(({ id, acceptanceCriteria: criteria, ...story }) => {
    const acceptanceCriteria = criteria.length === 0 ? [story.title] : criteria;
    return { id: id ?? free(), ...story, acceptanceCriteria };
  });
}

/** `US-007` */
export function idOf(number: number): string {
  return `US-${String(number).padStart(3, "0")}`;
}

/** What an item says, without the items below it. */
function itemText({ tokens }: Tokens.ListItem): string {
  const own = tokens.filter(({ type }) => type === "text" || type === "paragraph");
  return plain(own.map((token) => (token as Tokens.Text).text).join(" "));
}

function plain(text: string): string {
  return text
    .replace(/\*\*|__/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === "heading";
}

function isList(token: Token): token is Tokens.List {
  return token.type === "list";
}
