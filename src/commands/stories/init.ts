import { existsSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../errors.js";
import {
  type FolderFlags,
  isUntouched,
  PARTS,
  refuseAtWork,
  storiesFolder,
  writeTemplates,
} from "../../recipes/stories/folder.js";
import { storyFiles } from "../../recipes/stories/run.js";

export interface InitFlags extends FolderFlags {
  name?: string;
  force?: boolean;
}

/** `ralph stories init`: the folder of the stories, from the templates. */
export async function init({ name, force, ...flags }: InitFlags): Promise<number> {
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
  process.stdout.write(`${written.map((file) => `created ${file}\n`).join("")}
Next steps:
  1. Write ${dir}/prd.md and the stories in ${dir}/tasks.json, or let an agent ask you: ralph stories plan
  2. Commit them: git add -A && git commit -m "Plan"
  3. Look whether they are sound: ralph stories verify
  4. Let the agent work: ralph stories run
`);
  return 0;
}

function refuseName(name = "x"): void {
  const isFine = /^[A-Za-z0-9_][\w./-]*$/.test(name) && !/\.\.|\/\/|\/\.|[./]$|\.lock(\/|$)/.test(name);
  if (isFine) return;
  throw new RalphError(`--name ${JSON.stringify(name)}: expected a name that can be the end of a branch`, {
    code: "flag_invalid",
    hint: "letters, digits, -, _, . and /, such as checkout-flow",
  });
}
