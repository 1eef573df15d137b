import { join } from "node:path";
import { RalphError } from "../../errors.js";
import type { PlanContext } from "../recipe.js";
import type { Finding } from "./finding.js";
import { type Held, judgeTasks } from "./judge.js";
import { restored, withoutNewPasses } from "./restore.js";
import { isSameList, storiesIn } from "./same-list.js";
import { tasksToStart } from "./start-list.js";
import type { Restoring, StoriesContext, StoriesSpec } from "./stories.js";
import { readIfFile, storyFiles } from "./story-files.js";
import { type Mode, modeOf, type TaskList } from "./tasks.js";
import type { TrustedStore } from "./trusted.js";

export interface Believing extends Restoring {
  trusted: TrustedStore;
}

/** An iteration as it began. */
export interface Turn {
  iteration: number;
  mode: Mode;
  before: TaskList;
  commands: string[];
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
    const { mode, before, commands } = trusted;
    return { iteration, mode, before, commands, meanwhile: [] };
  }
  const isAgain = trusted?.iteration === iteration;
  const known = isAgain ? trusted.before : trusted?.after;
  if (known === undefined) return begun(spec, context, iteration, tasksToStart(spec, context.workspace), []);
  const held: Held = { mode: null, before: known, commands: trusted?.commands ?? [], failing: [] };
  const judged = judgeTasks(spec, context, held);
  const sound = restored(spec, context, judged, held, iteration);
  const before = spec.skipReview ? withoutNewPasses(spec, context, sound, known) : sound;
  // What an agent did that was cut off is undone without a word.
  return begun(spec, context, iteration, before, isAgain ? [] : judged.findings);
}

/** Whoever has planned something else since then does not want the old stories back. */
function refuseOther(spec: StoriesSpec, context: StoriesContext, before: TaskList): void {
  const name = storyFiles(spec.dir).tasks;
  const stories = storiesIn(readIfFile(join(context.workspace, name)));
  // Half a file is what an agent leaves that is cut off.
  if (stories === undefined || stories.length === 0 || isSameList(stories, before)) return;
  throw new RalphError(`${name} holds other stories than this run began with`, {
    code: "stories_replaced",
    hint: "start a new run with ralph stories run",
    isFinal: true,
  });
}

function begun(
  spec: StoriesSpec,
  { trusted }: Believing,
  iteration: number,
  before: TaskList,
  meanwhile: Finding[],
): Turn {
  const mode = modeOf(before, spec);
  const commands = trusted.read()?.commands ?? before.verifyCommands ?? [];
  trusted.write({ iteration, mode, commands, before });
  return { iteration, mode, commands, before, meanwhile };
}
