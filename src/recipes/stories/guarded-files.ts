import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeAtomic } from "../../records/files.js";
import { commitFiles } from "../../verify/protected/commit.js";
import { putTextBack, putTextsBack } from "../../verify/protected/disk.js";
import { textAt } from "../../workspace/content.js";
import { readTextFile } from "../text-file.js";
import type { StoriesRun } from "./context.js";

type PutBack = Pick<StoriesRun, "workspace" | "inRepository" | "putBack">;

export function putFileBack({ workspace, putBack }: PutBack, name: string, text: string): void {
  putTextBack(workspace, name, text);
  putBack.add(name);
}

/** What was put back is committed as well, and nothing else; where git refuses, the next iteration finds that. */
export async function commitBack({ workspace, inRepository, putBack }: PutBack): Promise<void> {
  const names = [...putBack];
  putBack.clear();
  if (inRepository) await commitFiles(workspace, names);
}

/**
 * prd.md, prompt.md and `.ralph-active`: the loop knows what they hold, and what an agent makes of them is undone.
 * prompt.md is the user's between two agents.
 */
export function createGuard(run: StoriesRun) {
  const { workspace, records, folderFor, files } = run;
  const own = { prd: join(records, "prd.md"), prompt: join(records, "prompt.md") };
  let prd = textAt(own.prd);
  let prompt = textAt(own.prompt);
  let active: string | undefined;
  const take = (file: string, copy: string): string | undefined => {
    const found = textAt(join(workspace, file));
    if (found === undefined) rmSync(copy, { force: true });
    else writeAtomic(copy, found);
    return found;
  };
  return {
    /** The first iteration of a run takes prd.md as it is, and so does one after a person changed it. Returns what prompt.md holds. */
    begin(text: string, isFirst: boolean, changed: string[]): string {
      active = text;
      putTextBack(workspace, files.active, text);
      if ((prd === undefined && isFirst) || changed.includes(files.prd)) prd = take(files.prd, own.prd);
      if (prompt !== undefined && textAt(join(workspace, files.prompt)) === undefined)
        putFileBack(run, files.prompt, prompt);
      const template = readTextFile("prompt template", files.prompt, workspace);
      prompt = take(files.prompt, own.prompt);
      return template;
    },
    restore(iteration: number): { file: string; what: string }[] {
      const folder = folderFor(iteration);
      const known = [
        { file: files.prd, text: prd, kept: join(folder, "prd.md") },
        { file: files.prompt, text: prompt, kept: join(folder, "prompt.changed.md") },
        { file: files.active, text: active },
      ].filter(({ text }) => text !== undefined);
      return putTextsBack(workspace, known).map(({ file, kept }) => {
        if (file !== files.active) run.putBack.add(file);
        const whose = file === files.active ? "is ralph's own" : "is read-only";
        const where = kept === undefined ? "" : ` (what it was changed to is kept as ${kept})`;
        return { file, what: `${file} ${whose}, and was changed: it was put back${where}` };
      });
    },
    end(): void {
      rmSync(join(workspace, files.active), { recursive: true, force: true });
    },
  };
}

export type Guard = ReturnType<typeof createGuard>;
