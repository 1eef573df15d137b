import type { Finding } from "../../recipes/stories/finding.js";
import { existingStories, type PlaceFlags, type StoriesPlace } from "../../recipes/stories/folder.js";
import { blamedIn, editedSince, judgeTasks, tasksText, workIn } from "../../recipes/stories/judge.js";
import type { Reading } from "../../recipes/stories/list-check.js";
import { checkCommitted, checkTasks } from "../../recipes/stories/rules.js";
import type { StoriesSpec } from "../../recipes/stories/stories.js";
import { storyFiles } from "../../recipes/stories/story-files.js";
import { readTrusted, type Trusted } from "../../recipes/stories/trusted.js";
import { ralphHome } from "../../records/home.js";
import { lockHolder } from "../../records/lock.js";
import { type RunFolder, runFolder } from "../../records/runs.js";
import { readSpec } from "../../run/spec.js";
import { loadSettings } from "../../settings/load.js";
import { harmless } from "../../views/harmless.js";
import type { Work } from "../../workspace/work.js";
import { formatterFor, type OutputFlags, printAll } from "../output.js";
import { type ReviewFlags, reviewRules } from "./review-rules.js";

export interface VerifyFlags
  extends PlaceFlags,
    Pick<OutputFlags, "color" | "emoji">,
    Pick<ReviewFlags, "skipReview" | "reviewCap"> {}

/** `ralph stories verify`: the checks that an agent has to pass before it may stop, by hand. */
export async function verify(flags: VerifyFlags): Promise<number> {
  const place = existingStories(flags);
  const name = storyFiles(place.dir).tasks;
  const folder = runAtWork(place);
  const known = folder === undefined ? undefined : readTrusted(folder.path);
  // In a pause the stories are the user's.
  const trusted = known?.after === undefined ? known : undefined;
  const spec = await specFor(place, flags, folder);
  const work = await workIn(where(place));
  const { tasks, findings } = await judged(spec, place, trusted, work);
  const all = [...findings, ...checkCommitted(blamedIn(spec, trusted ?? { blamed: [] }, work))];
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
async function specFor(
  place: StoriesPlace,
  flags: VerifyFlags,
  folder: RunFolder | undefined,
): Promise<StoriesSpec> {
  const recipe = folder === undefined ? undefined : readSpec(folder).recipe;
  if (recipe?.kind === "stories") return recipe;
  const { rules } = reviewRules(flags, (await loadSettings(place.project)).settings);
  return { kind: "stories", dir: place.dir, ...rules, hasReviewer: false, dirty: [] };
}

function where({ project }: StoriesPlace) {
  return { workspace: project, inRepository: true };
}

/** Its iteration decides what may change. */
async function judged(
  spec: StoriesSpec,
  place: StoriesPlace,
  trusted: Trusted | undefined,
  work: Work | undefined,
): Promise<Reading> {
  const text = tasksText(spec, where(place));
  if (trusted === undefined) return checkTasks(text, { ...spec, name: storyFiles(place.dir).tasks });
  const edited = trusted.mode === "review" ? await editedSince(spec, where(place), trusted, work) : [];
  const { tasks, findings } = judgeTasks(spec, text, { ...trusted, edited, failing: [] });
  return { ...(tasks && { tasks }), findings };
}

/** What an agent is told to do before it stops is not for people. */
function lines({ check, message }: Finding, mark: string): string {
  const text = check === 3 ? (message.split("\n")[0] ?? "") : message;
  return harmless(`${mark} ${text}`).replaceAll("\n", "\n  ");
}
