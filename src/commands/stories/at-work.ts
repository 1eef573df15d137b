import { RalphError } from "../../errors.js";
import type { StoriesPlace } from "../../recipes/stories/folder.js";
import { ralphHome } from "../../records/home.js";
import { lockHolder } from "../../records/lock.js";

/** Nobody takes the stories away from a run that works on them. */
export function refuseAtWork({ project }: StoriesPlace): void {
  const holder = lockHolder(ralphHome(), { workspace: project });
  if (holder === undefined) return;
  throw new RalphError(`run ${holder.run} (pid ${holder.pid}) is at work here`, {
    code: "workspace_in_use",
    hint: "wait for it, or stop it first",
  });
}
