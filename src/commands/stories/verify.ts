import { existingStories, type FolderFlags } from "../../recipes/stories/folder.js";
import { stopFindings } from "../../recipes/stories/judge.js";
import { readTrusted, type Stories, type StoriesSpec, storyFiles } from "../../recipes/stories/run.js";
import { ralphHome } from "../../records/home.js";
import { lockHolder } from "../../records/lock.js";
import { type RunFolder, runFolder } from "../../records/runs.js";
import { readSpec } from "../../run/spec.js";
import { loadSettings } from "../../settings/load.js";
import { harmless } from "../../views/harmless.js";
import { formatterFor, type OutputFlags, printAll } from "../output.js";
import { type ReviewFlags, reviewRules } from "./review-rules.js";

export interface VerifyFlags
  extends FolderFlags,
    Pick<OutputFlags, "color" | "emoji">,
    Pick<ReviewFlags, "skipReview" | "reviewCap"> {}

/** `ralph stories verify`: the checks that an agent has to pass before it may stop, by hand. */
export async function verify(flags: VerifyFlags): Promise<number> {
  const { project: workspace, dir } = existingStories(flags);
  const home = ralphHome();
  const holder = lockHolder(home, { workspace });
  const folder = holder && runFolder(home, holder.run);
  const known = folder && readTrusted(folder.path);
  const spec = await specFor(workspace, dir, flags, folder);
  const stories: Stories = { spec, files: storyFiles(dir), workspace, inRepository: true };
  // In a pause the stories are the user's.
  const turn = known?.after === undefined ? known : undefined;
  const { tasks, findings } = await stopFindings(stories, turn, []);
  const { mark } = formatterFor(flags);
  if (findings.length === 0) {
    const count = tasks?.userStories.length ?? 0;
    const what = `${count} ${count === 1 ? "story" : "stories"}, all sound and committed`;
    await printAll(`${mark.pass} ${stories.files.tasks}: ${what}\n`);
    return 0;
  }
  const lines = findings.map(({ check, message }) => {
    // What an agent has to do before it stops is not for people.
    const text = check === 3 ? (message.split("\n")[0] ?? "") : message;
    return `${harmless(`${mark.fail} ${text}`).replaceAll("\n", "\n  ")}\n`;
  });
  await printAll(lines.join(""));
  return 1;
}

/** While a run is at work, its rules hold, as they do for its agents. */
async function specFor(
  project: string,
  dir: string,
  flags: VerifyFlags,
  folder: RunFolder | undefined,
): Promise<StoriesSpec> {
  const recipe = folder === undefined ? undefined : readSpec(folder).recipe;
  if (recipe?.kind === "stories") return recipe;
  const { rules } = reviewRules(flags, (await loadSettings(project)).settings);
  return { kind: "stories", dir, ...rules, hasReviewer: false, dirty: [] };
}
