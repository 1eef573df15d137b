import { existsSync, lstatSync, mkdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { RalphError } from "../../errors.js";
import { writeFresh } from "../../records/files.js";
import { textAt } from "../../workspace/content.js";
import { git, repositoryRoot } from "../../workspace/git.js";
import { type FindNewPrograms, trustNow } from "../../workspace/git-programs.js";
import { stage } from "../../workspace/stage.js";
import { unfinished } from "../../workspace/start.js";
import { isUntouched, type StoriesFolder, writeTemplates } from "./folder.js";
import { tasksIn } from "./start.js";
import { isAtCap, stateOf, storyFiles } from "./state.js";
import type { TaskList } from "./tasks.js";

const ARCHIVE = "ralph-archive";

/** Moves the loop's files away, starts anew from the templates, and commits that. */
export async function archiveStories(
  stories: StoriesFolder,
  label: string | undefined,
  newPrograms?: FindNewPrograms,
) {
  const { project, dir } = stories;
  const files = storyFiles(dir);
  if (isUntouched(stories, "tasks"))
    throw new RalphError(`there is nothing to archive: ${files.tasks} is still the template`, {
      code: "nothing_to_archive",
      hint: "ralph stories plan fills it in; ralph stories init --force writes all of it again",
    });
  const tasks = tasksIn(dir, project);
  // What is put away stays in the project: nobody may have made a link of its folder.
  if (lstatSync(join(project, ARCHIVE), { throwIfNoEntry: false })?.isDirectory() === false)
    throw new RalphError(`${ARCHIVE} is not a folder`, {
      code: "archive_no_folder",
      hint: "remove it first",
    });
  const today = new Date().toISOString().slice(0, 10);
  const name = (label ?? tasks.branchName.replace(/^ralph\//, ""))
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "");
  const wanted = join(ARCHIVE, `${today}-${name || "loop"}`);
  let folder = wanted;
  for (let number = 2; existsSync(join(project, folder)); number += 1) folder = `${wanted}-${number}`;
  const progress = textAt(join(project, files.progress)) ?? "";
  mkdirSync(join(project, folder), { recursive: true });
  for (const file of [files.prd, files.tasks, files.progress]) {
    const path = join(project, file);
    if (existsSync(path)) renameSync(path, join(project, folder, basename(file)));
  }
  writeFresh(join(project, folder, "summary.md"), summaryOf(tasks, progress, today));
  writeTemplates(stories);
  return { folder, tasks, ...(await commit(stories, folder, newPrograms)) };
}

/** What became of the stories, as it is kept in the archive. */
function summaryOf(tasks: TaskList, progress: string, today: string): string {
  const { project, branchName, description, userStories } = tasks;
  const done = userStories.filter(({ passes }) => passes).length;
  const started = /^Started:\s*(\S+)/m.exec(progress)?.[1] ?? "unknown";
  const reviews = userStories.reduce((sum, { reviewCount }) => sum + reviewCount, 0);
  const atCap = userStories.filter(isAtCap).map(({ id }) => id);
  const cell = (text: string): string => text.replace(/\s+/g, " ").replaceAll("|", "\\|");
  const rows = userStories.map((story) => {
    const state = stateOf(story, { skipReview: true }) + (isAtCap(story) ? " (at the cap)" : "");
    return `| ${cell(story.id)} | ${cell(story.title)} | ${state} | ${story.reviewCount} |`;
  });
  return `# ${project || branchName}
${description === "" ? "" : `\n${description}\n`}
- Stories: ${done} of ${userStories.length} completed
- Dates: ${started} to ${today}
- Branch: ${branchName}
- Reviews: ${reviews}
- Approved at the review cap: ${atCap.join(", ") || "none"}

| story | title | state | reviews |
|---|---|---|--:|
${rows.join("\n")}
`;
}

/** What else the user has staged or changed stays as it is. `notCommitted`: why git did not commit it. */
async function commit(
  { project, dir }: StoriesFolder,
  folder: string,
  newPrograms: FindNewPrograms | undefined,
): Promise<{ notCommitted?: string; note?: string }> {
  if (repositoryRoot(project) === undefined) return { notCommitted: "not a git repository" };
  const { hooks, refusal, note } = await trustNow(newPrograms);
  const notNow = refusal ?? (await unfinished(project));
  if (notNow !== undefined) return { notCommitted: notNow };
  const paths = [dir, folder, ".gitignore"];
  const message = `chore: archive ${basename(folder)}`;
  const added = await stage(project, paths);
  const args = ["commit", "--quiet", "-m", message, "--", ...paths];
  const done = added.ok ? await git(project, args, { hooks }) : added;
  if (done.ok) return note === "" ? {} : { note };
  return { notCommitted: (done.stderr || done.stdout).trim().split("\n").at(-1) ?? "git failed" };
}
