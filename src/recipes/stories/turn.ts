import { RalphError } from "../../errors.js";
import type { PlanContext } from "../recipe.js";
import type { Finding } from "./finding.js";
import { type Held, judgeTasks } from "./judge.js";
import { restored, withoutNewPasses } from "./restore.js";
import { tasksToStart } from "./start-list.js";
import type { StoriesContext, StoriesSpec } from "./stories.js";
import { storyFiles } from "./story-files.js";
import { type Mode, modeOf, type TaskList } from "./tasks.js";
import type { TrustedStore } from "./trusted.js";

export interface Believing extends StoriesContext {
  trusted: TrustedStore;
}

/** An iteration as it began. */
export interface Turn {
  iteration: number;
  mode: Mode;
  before: TaskList;
  /** What was changed when it was nobody's turn. */
  meanwhile: Finding[];
}

/**
 * What is believed is what the last iteration was verified to leave behind: nothing that was changed since
 * then, by a process left behind or by an agent that was cut off, counts as a review.
 */
export function beginTurn(
  spec: StoriesSpec,
  context: Believing,
  { iteration, answered }: Pick<PlanContext, "iteration" | "answered">,
): Turn {
  const trusted = context.trusted.read();
  if (trusted !== undefined && context.trusted.isLeftBehind())
    refuseOther(spec, context, trusted.after ?? trusted.before);
  if (trusted?.iteration === iteration && answered) {
    return { iteration, mode: trusted.mode, before: trusted.before, meanwhile: [] };
  }
  const isAgain = trusted?.iteration === iteration;
  const known = isAgain ? trusted.before : trusted?.after;
  if (known === undefined) return begun(spec, context, iteration, tasksToStart(spec, context.workspace), []);
  const held: Held = { mode: null, before: known, failing: [] };
  const judged = judgeTasks(spec, context, held);
  const sound = restored(spec, context, judged, held, iteration);
  const before = spec.skipReview ? withoutNewPasses(spec, context, sound, known) : sound;
  // What an agent did that was cut off is undone without a word.
  return begun(spec, context, iteration, before, isAgain ? [] : judged.findings);
}

/** Whoever has planned something else since then does not want the old stories back. */
function refuseOther(spec: StoriesSpec, context: StoriesContext, before: TaskList): void {
  const { tasks } = judgeTasks(spec, context, { mode: null, before, failing: [] });
  if (tasks === undefined || isSameList(tasks, before)) return;
  throw new RalphError(`${storyFiles(spec.dir).tasks} holds other stories than this run began with`, {
    code: "stories_replaced",
    hint: "start a new run with ralph stories run",
  });
}

function isSameList(now: TaskList, before: TaskList): boolean {
  const titles = new Map(before.userStories.map(({ id, title }) => [id, title]));
  return now.userStories.some(({ id, title }) => titles.get(id) === title);
}

function begun(
  spec: StoriesSpec,
  { trusted }: Believing,
  iteration: number,
  before: TaskList,
  meanwhile: Finding[],
): Turn {
  const mode = modeOf(before, spec);
  trusted.write({ iteration, mode, before });
  return { iteration, mode, before, meanwhile };
}
