import { RalphError } from "../../errors.js";
import { ralphHome } from "../../state/home.js";
import { lockHolder } from "../../state/lock.js";
import { archiveStories } from "../../stories/archive.js";
import { existingStories, type PlaceFlags } from "../../stories/folder.js";
import { saysSomething } from "../flags.js";

export interface ArchiveFlags extends PlaceFlags {
  label?: string;
}

/** `ralph stories archive`: puts a loop away and starts anew. */
export async function archive({ label, ...flags }: ArchiveFlags): Promise<number> {
  const place = existingStories(flags);
  if (label !== undefined) saysSomething("--label", label);
  const holder = lockHolder(ralphHome(), place.project);
  if (holder !== undefined) {
    throw new RalphError(`run ${holder.run} (pid ${holder.pid}) is at work here`, {
      code: "workspace_in_use",
      hint: "wait for it, or stop it first",
    });
  }
  const { folder, tasks, notCommitted } = await archiveStories(place, label);
  const done = tasks.userStories.filter(({ passes }) => passes).length;
  process.stdout.write(`Archived ${done} of ${tasks.userStories.length} completed stories in ${folder}\n`);
  process.stdout.write(`${place.dir}/ is ready for the next loop: ralph stories plan\n`);
  if (notCommitted !== undefined) process.stderr.write(`ralph: warning: not committed: ${notCommitted}\n`);
  return 0;
}
