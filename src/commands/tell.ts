import { RalphError } from "../errors.js";
import type { LoopEvent } from "../events.js";
import { addSteering, hasAnswer, storeAnswer } from "../records/words.js";
import { readSpec } from "../run/spec.js";
import { saysSomething } from "../settings/limits.js";
import { howToResume } from "../views/summary.js";
import { runOf, say, warn, workerOrRun } from "./find.js";

/** After these, an iteration is to come. */
const BETWEEN: (LoopEvent["type"] | undefined)[] = [
  "run.started",
  "run.resumed",
  "run.paused",
  "backoff.started",
  "limit.waiting",
  undefined,
];

/** `ralph steer NAME TEXT`: tells the next iteration something, once. */
export async function steer(name: string, text: string): Promise<number> {
  saysSomething("TEXT", text);
  const found = workerOrRun(name);
  const run = runOf(found);
  const spec = readSpec(run);
  const isPaused = found.worker?.status === "paused";
  if (!isPaused && run.loop() === undefined) {
    throw new RalphError(`${name} is not running`, { code: "run_not_running", exitCode: 1 });
  }
  const limit = found.worker?.state?.max_iterations || spec.limits.maxIterations;
  const isAtIteration = !BETWEEN.includes(run.lastEvent()?.type);
  const isLast = isAtIteration && (run.state()?.iterations ?? 0) + 1 >= limit;
  addSteering(run, text);
  const last = `${name} is in its last iteration (${limit} of ${limit}), and there is none to come: the text is kept until ralph resume ${name} --max-iterations N`;
  return say(`${isLast ? last : `the next iteration of ${name} is told`}`);
}

/** `ralph answer RUN TEXT`: keeps the answer to what an agent asked, for when the run goes on. */
export async function answer(name: string, text: string): Promise<number> {
  saysSomething("TEXT", text);
  const run = runOf(workerOrRun(name));
  const { question, limit } = run.state() ?? {};
  const isRunning = run.loop() !== undefined;
  if (question === undefined || isRunning) {
    throw new RalphError(`${name} has not asked anything`, {
      code: "nothing_asked",
      exitCode: 1,
      hint: isRunning
        ? `it is running: ralph steer ${name} TEXT tells it something`
        : "only a run that stopped as blocked with a question can be answered",
    });
  }
  if (hasAnswer(run)) warn("the answer that was given before is replaced");
  storeAnswer(run, question, text);
  return say(`answered; ${howToResume(name, { limit })} goes on with it`);
}
