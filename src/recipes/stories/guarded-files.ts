import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeAtomic } from "../../state/files.js";
import type { StoriesContext, StoriesSpec } from "./stories.js";
import { readIfFile, replaceFile, storyFiles } from "./story-files.js";

/** A file that no agent may change, and that was put back. */
export interface Restored {
  file: string;
  what: string;
}

/** prd.md and `.ralph-active`: what they hold is known to the loop, and what an agent makes of them is undone. */
export function createGuard(spec: StoriesSpec, { workspace, records, folderFor }: StoriesContext) {
  const files = storyFiles(spec.dir);
  const own = join(records, "prd.md");
  let active: string | undefined;
  return {
    /** The first iteration of a run takes prd.md as it is. */
    begin(text: string, isFirst: boolean): void {
      active = text;
      replaceFile(join(workspace, files.active), text);
      const prd = isFirst ? readIfFile(join(workspace, files.prd)) : undefined;
      if (prd !== undefined && readIfFile(own) === undefined) writeAtomic(own, prd);
    },
    restore(iteration: number): Restored[] {
      return [...restorePrd(iteration), ...restoreActive()];
    },
    end(): void {
      rmSync(join(workspace, files.active), { recursive: true, force: true });
    },
  };

  function restorePrd(iteration: number): Restored[] {
    const prd = readIfFile(own);
    const found = readIfFile(join(workspace, files.prd));
    if (prd === undefined || prd === found) return [];
    const kept = join(folderFor(iteration), "prd.md");
    if (found !== undefined) writeAtomic(kept, found);
    replaceFile(join(workspace, files.prd), prd);
    const where = found === undefined ? "" : ` (what it was changed to is kept as ${kept})`;
    return [{ file: files.prd, what: `${files.prd} is read-only, and was changed: it was put back${where}` }];
  }

  function restoreActive(): Restored[] {
    const path = join(workspace, files.active);
    if (active === undefined || readIfFile(path) === active) return [];
    replaceFile(path, active);
    return [{ file: files.active, what: `${files.active} is ralph's own, and was changed: it was put back` }];
  }
}
