import type { PlanContext } from "../recipe.js";
import type { Finding } from "./finding.js";
import { type Held, judgeTasks } from "./judge.js";
import { restored, withoutNewPasses } from "./restore.js";
import { tasksToStart } from "./start-list.js";
import type { StoriesContext, StoriesSpec } from "./stories.js";
import { type Mode, modeOf, type TaskList } from "./tasks.js";
import { readTrusted, writeTrusted } from "./trusted.js";

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
  context: StoriesContext,
  { iteration, answered }: Pick<PlanContext, "iteration" | "answered">,
): Turn {
  const trusted = readTrusted(context.records);
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

function begun(
  spec: StoriesSpec,
  { records }: StoriesContext,
  iteration: number,
  before: TaskList,
  meanwhile: Finding[],
): Turn {
  const mode = modeOf(before, spec);
  writeTrusted(records, { iteration, mode, before });
  return { iteration, mode, before, meanwhile };
}
