import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeAtomic } from "../../records/files.js";
import { readTextFile } from "../text-file.js";
import type { Restoring, StoriesSpec } from "./stories.js";
import { putFileBack, readIfFile, replaceFile, storyFiles } from "./story-files.js";

/** A file that no agent may change, and that was put back. */
export interface Restored {
  file: string;
  what: string;
}

/**
 * prd.md, prompt.md and `.ralph-active`: what they hold is known to the loop, and what an agent makes of them is
 * undone. prompt.md is the user's between two agents.
 */
export function createGuard(spec: StoriesSpec, context: Restoring) {
  const { workspace, records, folderFor } = context;
  const files = storyFiles(spec.dir);
  const own = { prd: join(records, "prd.md"), prompt: join(records, "prompt.md") };
  let prd = readIfFile(own.prd);
  let prompt = readIfFile(own.prompt);
  let active: string | undefined;
  return {
    /** The first iteration of a run takes prd.md as it is, and so does one after a person changed it. Returns what prompt.md holds. */
    begin(text: string, isFirst: boolean, changed: string[]): string {
      active = text;
      replaceFile(workspace, files.active, text);
      if ((prd === undefined && isFirst) || changed.includes(files.prd)) prd = taken(files.prd, own.prd);
      if (prompt !== undefined && readIfFile(join(workspace, files.prompt)) === undefined) {
        putFileBack(context, files.prompt, prompt);
      }
      const template = readTextFile("prompt template", files.prompt, workspace);
      prompt = taken(files.prompt, own.prompt);
      return template;
    },
    restore(iteration: number): Restored[] {
      return [
        ...restoreFile(files.prd, prd, join(folderFor(iteration), "prd.md")),
        ...restoreFile(files.prompt, prompt, join(folderFor(iteration), "prompt.changed.md")),
        ...restoreActive(),
      ];
    },
    end(): void {
      rmSync(join(workspace, files.active), { recursive: true, force: true });
    },
  };

  function taken(file: string, copy: string): string | undefined {
    const found = readIfFile(join(workspace, file));
    if (found === undefined) rmSync(copy, { force: true });
    else writeAtomic(copy, found);
    return found;
  }

  function restoreFile(file: string, wanted: string | undefined, kept: string): Restored[] {
    const found = readIfFile(join(workspace, file));
    if (wanted === undefined || wanted === found) return [];
    if (found !== undefined) writeAtomic(kept, found);
    putFileBack(context, file, wanted);
    const where = found === undefined ? "" : ` (what it was changed to is kept as ${kept})`;
    return [{ file, what: `${file} is read-only, and was changed: it was put back${where}` }];
  }

  function restoreActive(): Restored[] {
    if (active === undefined || readIfFile(join(workspace, files.active)) === active) return [];
    replaceFile(workspace, files.active, active);
    return [{ file: files.active, what: `${files.active} is ralph's own, and was changed: it was put back` }];
  }
}

export type Guard = ReturnType<typeof createGuard>;
