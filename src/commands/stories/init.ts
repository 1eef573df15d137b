import { RalphError } from "../../errors.js";
import { type PlaceFlags, type StoriesPlace, storiesPlace } from "../../recipes/stories/folder.js";
import {
  checkedName,
  ignoreActiveFile,
  type Part,
  writeTemplates,
  writtenParts,
} from "../../recipes/stories/set-up.js";
import { storyFiles } from "../../recipes/stories/story-files.js";
import { refuseAtWork } from "./at-work.js";

export interface InitFlags extends PlaceFlags {
  name?: string;
  force?: boolean;
}

/** `ralph stories init`: the folder of the stories, from the templates. */
export async function init({ name: given, force, ...flags }: InitFlags): Promise<number> {
  const place = storiesPlace(flags);
  const name = checkedName(given);
  refuseAtWork(place);
  const mine = force ? [] : writtenParts(place);
  const lost = mine.filter((part) => part !== "prompt");
  if (lost.length > 0) throw alreadyThere(place, lost);
  const replace = PARTS.filter((part) => !mine.includes(part));
  const written = writeTemplates(place, { name, replace });
  if (ignoreActiveFile(place.project)) written.push(".gitignore");
  process.stdout.write(`${written.map((file) => `created ${file}`).join("\n")}\n\n${nextSteps(place.dir)}`);
  return 0;
}

const PARTS: Part[] = ["prd", "tasks", "progress", "prompt"];

function alreadyThere({ dir }: StoriesPlace, parts: Part[]): RalphError {
  const files = storyFiles(dir);
  const away = parts.includes("tasks") ? "; ralph stories archive puts them away first" : "";
  return new RalphError(`${parts.map((part) => files[part]).join(", ")} already there`, {
    code: "file_exists",
    hint: `--force overwrites${away}`,
  });
}

function nextSteps(dir: string): string {
  return `Next steps:
  1. Write ${dir}/prd.md and the stories in ${dir}/tasks.json, or let an agent ask you: ralph stories plan
  2. Commit them: git add -A && git commit -m "Plan"
  3. Look whether they are sound: ralph stories verify
  4. Let the agent work: ralph stories run
`;
}
