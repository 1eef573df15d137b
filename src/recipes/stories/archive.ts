import { existsSync, lstatSync, mkdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { RalphError } from "../../errors.js";
import { writeFresh } from "../../records/files.js";
import { textAt } from "../../workspace/content.js";
import { git, repositoryRoot } from "../../workspace/git.js";
import { type LookAtPrograms, trustNow } from "../../workspace/git-programs.js";
import { stage } from "../../workspace/stage.js";
import { unfinished } from "../../workspace/unfinished.js";
import type { StoriesPlace } from "./folder.js";
import { readTasks } from "./list-check.js";
import { ignoreActiveFile, isUntouched, writeTemplates } from "./set-up.js";
import { storyFiles } from "./story-files.js";
import { summaryOf } from "./summary.js";
import type { TaskList } from "./tasks.js";

const ARCHIVE = "ralph-archive";

export interface Archived {
  /** Where it is now, from the project on. */
  folder: string;
  tasks: TaskList;
  /** Why it could not be committed. */
  notCommitted?: string;
  /** What is to be said of the commit. */
  note?: string;
}

/** Moves the loop's files away, starts anew from the templates, and commits that. */
export async function archiveStories(
  place: StoriesPlace,
  label: string | undefined,
  newPrograms?: LookAtPrograms,
): Promise<Archived> {
  const { project, dir } = place;
  const files = storyFiles(dir);
  const tasks = tasksToArchive(place);
  refuseLink(project);
  const today = new Date().toISOString().slice(0, 10);
  const folder = freeName(project, `${today}-${slug(label ?? tasks.branchName.replace(/^ralph\//, ""))}`);
  const progress = textAt(join(project, files.progress)) ?? "";
  mkdirSync(join(project, folder), { recursive: true });
  for (const [file, name] of [
    [files.prd, "prd.md"],
    [files.tasks, "tasks.json"],
    [files.progress, "progress.txt"],
  ] as const) {
    if (existsSync(join(project, file))) renameSync(join(project, file), join(project, folder, name));
  }
  writeFresh(join(project, folder, "summary.md"), summaryOf(tasks, { progress, today }));
  writeTemplates(place, { replace: [] });
  ignoreActiveFile(project);
  return { folder, tasks, ...(await commit(place, folder, newPrograms)) };
}

/** What is put away stays in the project, whoever made a link of its folder. */
function refuseLink(project: string): void {
  const stat = lstatSync(join(project, ARCHIVE), { throwIfNoEntry: false });
  if (stat === undefined || stat.isDirectory()) return;
  throw new RalphError(`${ARCHIVE} is not a folder`, { code: "archive_no_folder", hint: "remove it first" });
}

function tasksToArchive(place: StoriesPlace): TaskList {
  const { project, dir } = place;
  const name = storyFiles(dir).tasks;
  const path = join(project, name);
  if (!existsSync(path)) {
    throw new RalphError(`there is nothing to archive: ${name} does not exist`, {
      code: "nothing_to_archive",
    });
  }
  if (isUntouched(place, "tasks")) {
    throw new RalphError(`there is nothing to archive: ${name} is still the template`, {
      code: "nothing_to_archive",
      hint: "ralph stories plan fills it in; ralph stories init --force makes all of it anew",
    });
  }
  const { tasks, findings } = readTasks(textAt(path), name);
  if (tasks !== undefined) return tasks;
  throw new RalphError(
    `cannot archive: ${findings.map(({ message }) => message.replace(/\.$/, "")).join("; ")}`,
    {
      code: "tasks_invalid",
      hint: "what cannot be read cannot be summed up: mend it first",
    },
  );
}

function slug(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[.-]+|[.-]+$/g, "") || "loop";
}

function freeName(project: string, name: string): string {
  for (let number = 1; ; number += 1) {
    const folder = join(ARCHIVE, number === 1 ? name : `${name}-${number}`);
    if (!existsSync(join(project, folder))) return folder;
  }
}

/** What else the user has staged or changed stays as it is. */
async function commit(
  { project, dir }: StoriesPlace,
  folder: string,
  newPrograms: LookAtPrograms | undefined,
): Promise<Pick<Archived, "notCommitted" | "note">> {
  if (repositoryRoot(project) === undefined) return { notCommitted: "not a git repository" };
  const { hooks, refusal, note } = await trustNow(newPrograms);
  const notNow = refusal ?? (await unfinished(project));
  if (notNow !== undefined) return { notCommitted: notNow };
  const paths = [dir, folder, ".gitignore"];
  const added = await stage(project, paths);
  const done = added.ok
    ? await git(project, ["commit", "--quiet", "-m", `chore: archive ${basename(folder)}`, "--", ...paths], {
        hooks,
      })
    : added;
  if (done.ok) return note === "" ? {} : { note };
  return { notCommitted: (done.stderr || done.stdout).trim().split("\n").at(-1) ?? "git failed" };
}
