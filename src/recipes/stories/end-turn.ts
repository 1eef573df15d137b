import type { Violation } from "../../events.js";
import type { Failure } from "../../verify/failure.js";
import type { Answer } from "../recipe.js";
import type { Finding } from "./finding.js";
import { type Held, type Judged, judgeTasks, uncommitted } from "./judge.js";
import { keptAs, restored, withoutNewPasses } from "./restore.js";
import { GIT_CANNOT_TELL } from "./rules.js";
import type { StoriesSpec } from "./stories.js";
import { storyFiles } from "./story-files.js";
import type { TaskList } from "./tasks.js";
import type { Believing, Turn } from "./turn.js";

interface Ending {
  iteration: number;
  answer: Answer;
  failures: Failure[];
  /** Whether the agent asks a human: what it has not done is not held against it. */
  asks: boolean;
}

export interface Ended {
  violations: Violation[];
  uncommitted: Violation[];
  after: TaskList;
}

/** Judges what the agent made of tasks.json, and puts back what it may not have done. */
export async function endTurn(
  spec: StoriesSpec,
  context: Believing,
  turn: Turn,
  { iteration, answer, failures, asks }: Ending,
): Promise<Ended> {
  const left = await uncommitted(spec, context);
  const held: Held = { ...turn, failing: failures.map(({ command }) => command) };
  const judged = judgeTasks(spec, context, held);
  const findings = judged.findings.filter(
    ({ field }) => field !== undefined || (answer.error === null && !asks) || judged.tasks === undefined,
  );
  // A review counts when its agent came to an end.
  const isVoid = turn.mode === "review" && answer.error !== null;
  const moved = isVoid ? judgeTasks(spec, context, { ...held, mode: null }).findings : [];
  const back = { ...judged, findings: [...findings, ...moved] };
  const whole = restored(spec, context, back, held, iteration);
  const isUnproven = spec.skipReview && failures.length > 0;
  const after = isUnproven ? withoutNewPasses(spec, context, whole, turn.before) : whole;
  const { mode, commands, before } = turn;
  context.trusted.write({ iteration, mode, commands, before, after });
  const kept =
    judged.tasks === undefined && judged.text !== undefined ? keptAs(context, iteration) : undefined;
  const tell = told(spec, iteration, kept);
  return {
    violations: onePerStory([...turn.meanwhile, ...findings]).map(tell),
    uncommitted: notCommitted(left, iteration),
    after,
  };
}

/**
 * The run ends before what an agent did was judged. What it may not do is undone now; what it may do is judged
 * when the run goes on, and no other run believes it.
 */
export function closeTurn(spec: StoriesSpec, context: Believing, turn: Turn): void {
  const held: Held = { ...turn, failing: [] };
  const judged: Judged = judgeTasks(spec, context, held);
  restored(spec, context, judged, held, turn.iteration);
}

/** A move that breaks a rule leaves a state that breaks another one: the move is what is told. */
function onePerStory(findings: Finding[]): Finding[] {
  return findings.filter(
    ({ story, check }) =>
      story === undefined ||
      check === 2.5 ||
      !findings.some((other) => other.story === story && other.check === 2.5),
  );
}

function notCommitted(files: string[] | undefined, iteration: number): Violation[] {
  if (files === undefined) return [{ type: "violation", iteration, what: GIT_CANNOT_TELL, file: ".git" }];
  const [file, ...others] = files;
  if (file === undefined) return [];
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const what = `There are uncommitted changes: ${file}${more}. Commit all of them, with progress.txt and tasks.json.`;
  return [{ type: "violation", iteration, what, file }];
}

function told({ dir }: StoriesSpec, iteration: number, kept: string | undefined) {
  return ({ message, story }: Finding): Violation => ({
    type: "violation",
    iteration,
    what:
      kept === undefined
        ? message
        : `${message} The last good one was put back; the broken one is kept as ${kept}.`,
    ...(story === undefined ? { file: storyFiles(dir).tasks } : { story }),
  });
}
