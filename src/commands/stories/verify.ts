import { join } from "node:path";
import { readSpec } from "../../host/spec.js";
import type { Finding } from "../../recipes/stories/finding.js";
import { judgeTasks, uncommitted } from "../../recipes/stories/judge.js";
import type { Reading } from "../../recipes/stories/list-check.js";
import { checkCommitted, checkTasks } from "../../recipes/stories/rules.js";
import type { StoriesSpec } from "../../recipes/stories/stories.js";
import { readIfFile, storyFiles } from "../../recipes/stories/story-files.js";
import { DEFAULT_REVIEW_CAP } from "../../recipes/stories/tasks.js";
import { readTrusted } from "../../recipes/stories/trusted.js";
import { ralphHome } from "../../state/home.js";
import { lockHolder } from "../../state/lock.js";
import { type RunFolder, runFolder } from "../../state/runs.js";
import { existingStories, type PlaceFlags, type StoriesPlace } from "../../stories/folder.js";
import { harmless } from "../../views/harmless.js";
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
  const { tasks, findings } = judged(place, flags);
  const all = [...findings, ...checkCommitted(await uncommitted(specFor(place, flags), where(place)))];
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

/** The run that is at work here, if there is one. */
function runAtWork({ project }: StoriesPlace): RunFolder | undefined {
  const home = ralphHome();
  const holder = lockHolder(home, { workspace: project });
  return holder === undefined ? undefined : runFolder(home, holder.run);
}

/** While a run is at work, its rules hold, as they do for its agents. */
function specFor(place: StoriesPlace, { skipReview = false, reviewCap }: VerifyFlags): StoriesSpec {
  const cap = reviewCap === undefined ? DEFAULT_REVIEW_CAP : wholeNumber("--review-cap", reviewCap, 1);
  const folder = runAtWork(place);
  const recipe = folder === undefined ? undefined : readSpec(folder).recipe;
  if (recipe?.kind === "stories") return recipe;
  return { kind: "stories", dir: place.dir, skipReview, reviewCap: cap, hasReviewer: false, dirty: [] };
}

function where({ project }: StoriesPlace) {
  return { workspace: project, inRepository: true };
}

/** Its iteration decides what may change. */
function judged(place: StoriesPlace, flags: VerifyFlags): Reading {
  const folder = runAtWork(place);
  const trusted = folder === undefined ? undefined : readTrusted(folder.path);
  const spec = specFor(place, flags);
  if (trusted !== undefined) return judgedNow(spec, where(place), { ...trusted, failing: [] });
  const name = storyFiles(place.dir).tasks;
  return checkTasks(readIfFile(join(place.project, name)), { ...spec, name });
}

function judgedNow(...of: Parameters<typeof judgeTasks>): Reading {
  const { tasks, findings } = judgeTasks(...of);
  return { ...(tasks && { tasks }), findings };
}

/** What an agent is told to do before it stops is not for people. */
function lines({ check, message }: Finding, mark: string): string {
  const text = check === 3 ? (message.split("\n")[0] ?? "") : message;
  return harmless(`${mark} ${text}`).replaceAll("\n", "\n  ");
}
