import { existsSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../errors.js";
import { type PlaceFlags, storiesPlace } from "../../recipes/stories/folder.js";
import { importStories } from "../../recipes/stories/import.js";
import { ignoreActiveFile, isUntouched, writeTemplates } from "../../recipes/stories/set-up.js";
import { storyFiles } from "../../recipes/stories/story-files.js";
import { makeFolders, writeFresh } from "../../records/files.js";
import { harmlessLine } from "../../views/harmless.js";
import { refuseAtWork } from "./at-work.js";

export interface ImportFlags extends PlaceFlags {
  force?: boolean;
}

/** `ralph stories import FILE`: the stories of a prd.json that knows no reviews. */
export async function importFile(file: string, { force, ...flags }: ImportFlags): Promise<number> {
  const place = storiesPlace(flags);
  const name = storyFiles(place.dir).tasks;
  const { tasks, passed } = importStories(file);
  refuseAtWork(place);
  if (existsSync(join(place.project, name)) && !isUntouched(place, "tasks") && !force) {
    throw new RalphError(`${name} is already there`, {
      code: "file_exists",
      hint: "--force overwrites it; ralph stories archive puts it away first",
    });
  }
  makeFolders(join(place.project, place.dir));
  writeFresh(join(place.project, name), `${JSON.stringify(tasks, null, 2)}\n`);
  const written = [name, ...writeTemplates(place, { replace: [] })];
  if (ignoreActiveFile(place.project)) written.push(".gitignore");
  const count = tasks.userStories.length;
  process.stdout.write(`${written.map((one) => `created ${one}\n`).join("")}\n`);
  process.stdout.write(`Imported ${count} ${count === 1 ? "story" : "stories"}.${passedText(passed)}\n`);
  process.stdout.write('Next: git add -A && git commit -m "Plan", ralph stories verify, ralph stories run\n');
  return 0;
}

function passedText(passed: string[]): string {
  if (passed.length === 0) return "";
  return ` Passed there, and not reviewed yet: ${harmlessLine(passed.join(", "))}. They begin with their review.`;
}
