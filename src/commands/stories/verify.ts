import { join } from "node:path";
import { readSpec } from "../../host/spec.js";
import type { Finding } from "../../recipes/stories/finding.js";
import { checkCommitted, checkTasks, type Rules } from "../../recipes/stories/rules.js";
import { snapshotOf } from "../../recipes/stories/snapshot.js";
import { readIfFile, storyFiles } from "../../recipes/stories/story-files.js";
import { DEFAULT_REVIEW_CAP } from "../../recipes/stories/tasks.js";
import { readTrusted } from "../../recipes/stories/trusted.js";
import { ralphHome } from "../../state/home.js";
import { lockHolder } from "../../state/lock.js";
import { runFolder } from "../../state/runs.js";
import { existingStories, type PlaceFlags, type StoriesPlace } from "../../stories/folder.js";
import { harmless } from "../../views/harmless.js";
import { uncommittedFiles } from "../../workspace/uncommitted.js";
import { wholeNumber } from "../flags.js";
import { formatterFor, type OutputFlags, printAll } from "../output.js";

export interface VerifyFlags extends PlaceFlags, Pick<OutputFlags, "color" | "emoji"> {
  skipReview?: boolean;
  reviewCap?: string;
}

/** `ralph stories verify`: the checks that an agent has to pass before it may stop, by hand. */
export async function verify(flags: VerifyFlags): Promise<number> {
  const place = existingStories(flags);
  const name = storyFiles(place.dir).tasks;
  const { tasks, findings } = checkTasks(readIfFile(join(place.project, name)), {
    ...rulesFor(place, flags),
    name,
  });
  const all = [...findings, ...checkCommitted(await uncommittedFiles(place.project))];
  const format = formatterFor(flags);
  if (all.length === 0) {
    const count = tasks?.userStories.length ?? 0;
    await printAll(
      `${format.mark.pass} ${name}: ${count} ${count === 1 ? "story" : "stories"}, all sound and committed\n`,
    );
    return 0;
  }
  await printAll(all.map((finding) => `${lines(finding, format.mark.fail)}\n`).join(""));
  return 1;
}

/** While a run is at work, its iteration decides what may change. */
function rulesFor({ project }: StoriesPlace, flags: VerifyFlags): Rules {
  const home = ralphHome();
  const holder = lockHolder(home, project);
  const folder = holder === undefined ? undefined : runFolder(home, holder.run);
  const recipe = folder === undefined ? undefined : readSpec(folder).recipe;
  if (folder !== undefined && recipe?.kind === "stories") {
    const trusted = readTrusted(folder.path);
    return { ...recipe, mode: trusted?.mode, before: trusted && snapshotOf(trusted.before) };
  }
  const { skipReview = false, reviewCap } = flags;
  return {
    skipReview,
    reviewCap: reviewCap === undefined ? DEFAULT_REVIEW_CAP : wholeNumber("--review-cap", reviewCap, 1),
  };
}

function lines({ message }: Finding, mark: string): string {
  return harmless(`${mark} ${message}`).replaceAll("\n", "\n  ");
}
