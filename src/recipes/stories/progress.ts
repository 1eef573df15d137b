import type { Failure } from "../../verify/failure.js";
import { judgeTasks, tasksText } from "./judge.js";
import type { StoriesContext, StoriesSpec } from "./stories.js";
import { changesBetween } from "./story-state.js";
import type { Turn } from "./turn.js";

/** A review that asks for changes proves nothing; one that approves has to be proved, like all other work. */
export function needsProof(spec: StoriesSpec, text: string | undefined, turn: Turn): boolean {
  const { mode, before, iteration } = turn;
  if (mode !== "review") return true;
  const { tasks = before } = judgeTasks(spec, text, { ...turn, failing: [] });
  return changesBetween(before, tasks, spec, iteration).some(({ to }) => to === "approved");
}

/** Whether a story has moved on as it may, though the agent said nothing. */
export function hasMoved(
  spec: StoriesSpec,
  context: StoriesContext,
  turn: Turn,
  failures: Failure[],
): boolean {
  const failing = failures.map(({ command }) => command);
  const { tasks, findings } = judgeTasks(spec, tasksText(spec, context), { ...turn, failing });
  if (tasks === undefined || findings.length > 0) return false;
  return changesBetween(turn.before, tasks, spec, turn.iteration).length > 0;
}
