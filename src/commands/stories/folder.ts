import { existsSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../errors.js";
import { archiveStories } from "../../recipes/stories/archive.js";
import {
  existingStories,
  type FolderFlags,
  importStories,
  isUntouched,
  PARTS,
  refuseAtWork,
  runsOf,
  storiesFolder,
  writeTemplates,
} from "../../recipes/stories/folder.js";
import { storyFiles } from "../../recipes/stories/run.js";
import { makeFolders, writeFresh } from "../../records/files.js";
import { ralphHome } from "../../records/home.js";
import { programsBefore } from "../../run/git.js";
import { saysSomething } from "../../settings/limits.js";
import { plural } from "../../views/figures.js";
import { harmlessLine } from "../../views/harmless.js";
import { newPrograms } from "../../workspace/git-programs.js";

interface WriteFlags extends FolderFlags {
  force?: boolean;
}

/** `ralph stories init`: the folder of the stories, from the templates. */
export async function init({ name, force, ...flags }: WriteFlags & { name?: string }): Promise<number> {
  const folder = storiesFolder(flags);
  const { project, dir } = folder;
  refuseName(name);
  refuseAtWork(folder);
  const files = storyFiles(dir);
  const isWritten = (part: (typeof PARTS)[number]): boolean =>
    existsSync(join(project, files[part])) && !isUntouched(folder, part);
  const mine = force ? [] : PARTS.filter(isWritten);
  const lost = mine.filter((part) => part !== "prompt");
  if (lost.length > 0) {
    const away = lost.includes("tasks") ? "; ralph stories archive puts them away first" : "";
    throw new RalphError(`${lost.map((part) => files[part]).join(", ")} already there`, {
      code: "file_exists",
      hint: `--force overwrites${away}`,
    });
  }
  const written = writeTemplates(folder, { name, replace: PARTS.filter((part) => !mine.includes(part)) });
  process.stdout.write(`${created(written)}
Next steps:
  1. Write ${dir}/prd.md and the stories in ${dir}/tasks.json, or let an agent ask you: ralph stories plan
  2. Commit them: git add -A && git commit -m "Plan"
  3. Look whether they are sound: ralph stories verify
  4. Let the agent work: ralph stories run
`);
  return 0;
}

function created(files: string[]): string {
  return files.map((file) => `created ${file}\n`).join("");
}

function refuseName(name = "x"): void {
  const isFine = /^[A-Za-z0-9_][\w./-]*$/.test(name) && !/\.\.|\/\/|\/\.|[./]$|\.lock(\/|$)/.test(name);
  if (isFine) return;
  throw new RalphError(`--name ${JSON.stringify(name)}: expected a name that can be the end of a branch`, {
    code: "flag_invalid",
    hint: "letters, digits, -, _, . and /, such as checkout-flow",
  });
}

/** `ralph stories import FILE`: the stories of a prd.json that knows no reviews. */
export async function importFile(file: string, { force, ...flags }: WriteFlags): Promise<number> {
  const folder = storiesFolder(flags);
  const { project, dir } = folder;
  const name = storyFiles(dir).tasks;
  const { tasks, passed } = importStories(file);
  refuseAtWork(folder);
  if (existsSync(join(project, name)) && !isUntouched(folder, "tasks") && !force)
    throw new RalphError(`${name} is already there`, {
      code: "file_exists",
      hint: "--force overwrites it; ralph stories archive puts it away first",
    });
  makeFolders(join(project, dir));
  writeFresh(join(project, name), `${JSON.stringify(tasks, null, 2)}\n`);
  const written = [name, ...writeTemplates(folder)];
  const ids = harmlessLine(passed.join(", "));
  const reviews = ids && ` Passed there, and not reviewed yet: ${ids}. They begin with their review.`;
  process.stdout.write(`${created(written)}
Imported ${plural(tasks.userStories.length, "story", "stories")}.${reviews}
Next: git add -A && git commit -m "Plan", ralph stories verify, ralph stories run
`);
  return 0;
}

/** `ralph stories archive`: puts a loop away and starts anew. */
export async function archive({ label, ...flags }: FolderFlags & { label?: string }): Promise<number> {
  const stories = existingStories(flags);
  if (label !== undefined) saysSomething("--label", label);
  refuseAtWork(stories);
  // Agents of the last run may have left hooks behind.
  const last = runsOf(ralphHome(), stories, "anywhere").at(-1);
  const before = last && programsBefore(last);
  const findNew = before && (() => newPrograms(stories.project, before));
  const { folder, tasks, notCommitted, note } = await archiveStories(stories, label, findNew);
  const done = tasks.userStories.filter(({ passes }) => passes).length;
  process.stdout.write(`Archived ${done} of ${tasks.userStories.length} completed stories in ${folder}\n`);
  process.stdout.write(`${stories.dir}/ is ready for the next loop: ralph stories plan\n`);
  if (note !== undefined) process.stderr.write(`ralph: committed${note}\n`);
  if (notCommitted === undefined) return 0;
  process.stderr.write(`ralph: warning: it is not committed: ${harmlessLine(notCommitted)}\n`);
  return 1;
}
