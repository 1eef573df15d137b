import { existsSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../errors.js";
import {
  type FolderFlags,
  importStories,
  isUntouched,
  refuseAtWork,
  storiesFolder,
  writeTemplates,
} from "../../recipes/stories/folder.js";
import { storyFiles } from "../../recipes/stories/run.js";
import { makeFolders, writeFresh } from "../../records/files.js";
import { harmlessLine } from "../../views/harmless.js";

export interface ImportFlags extends FolderFlags {
  force?: boolean;
}

/** `ralph stories import FILE`: the stories of a prd.json that knows no reviews. */
export async function importFile(file: string, { force, ...flags }: ImportFlags): Promise<number> {
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
  const count = tasks.userStories.length;
  const reviews =
    passed.length === 0
      ? ""
      : ` Passed there, and not reviewed yet: ${harmlessLine(passed.join(", "))}. They begin with their review.`;
  process.stdout.write(`${written.map((one) => `created ${one}\n`).join("")}
Imported ${count} ${count === 1 ? "story" : "stories"}.${reviews}
Next: git add -A && git commit -m "Plan", ralph stories verify, ralph stories run
`);
  return 0;
}
