import { archiveStories } from "../../stories/archive.js";
import { existingStories, type PlaceFlags } from "../../stories/folder.js";
import { harmlessLine } from "../../views/harmless.js";
import { saysSomething } from "../flags.js";
import { refuseAtWork } from "./at-work.js";

export interface ArchiveFlags extends PlaceFlags {
  label?: string;
}

/** `ralph stories archive`: puts a loop away and starts anew. */
export async function archive({ label, ...flags }: ArchiveFlags): Promise<number> {
  const place = existingStories(flags);
  if (label !== undefined) saysSomething("--label", label);
  refuseAtWork(place);
  const { folder, tasks, notCommitted } = await archiveStories(place, label);
  const done = tasks.userStories.filter(({ passes }) => passes).length;
  process.stdout.write(`Archived ${done} of ${tasks.userStories.length} completed stories in ${folder}\n`);
  process.stdout.write(`${place.dir}/ is ready for the next loop: ralph stories plan\n`);
  if (notCommitted === undefined) return 0;
  process.stderr.write(`ralph: warning: it is not committed: ${harmlessLine(notCommitted)}\n`);
  return 1;
}
