import { RalphError } from "../../errors.js";
import { type PlaceFlags, storiesPlace } from "../../stories/folder.js";
import { checkedName, existingFiles, ignoreActiveFile, writeTemplates } from "../../stories/set-up.js";

export interface InitFlags extends PlaceFlags {
  name?: string;
  force?: boolean;
}

/** `ralph stories init`: the folder of the stories, from the templates. */
export async function init({ name: given, force, ...flags }: InitFlags): Promise<number> {
  const place = storiesPlace(flags);
  const name = checkedName(given);
  const there = existingFiles(place);
  if (there.length > 0 && !force) {
    throw new RalphError(`${there.join(", ")} already there`, {
      code: "file_exists",
      hint: "--force overwrites; ralph stories archive puts them away first",
    });
  }
  const written = writeTemplates(place, { name, replace: ["prd", "tasks", "progress", "prompt"] });
  if (ignoreActiveFile(place.project)) written.push(".gitignore");
  process.stdout.write(`${written.map((file) => `created ${file}`).join("\n")}\n\n${nextSteps(place.dir)}`);
  return 0;
}

function nextSteps(dir: string): string {
  return `Next steps:
  1. Write ${dir}/prd.md and the stories in ${dir}/tasks.json, or let an agent ask you: ralph stories plan
  2. Look whether they are sound: ralph stories verify
  3. Commit them: git add -A && git commit -m "Plan"
  4. Let the agent work: ralph stories run
`;
}
