import { RalphError } from "../errors.js";
import { hasAnswer, storeAnswer } from "../records/words.js";
import { saysSomething } from "../settings/limits.js";
import { howToResume } from "../views/summary.js";
import { runOf, warn, workerOrRun } from "./find-worker.js";

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
  process.stdout.write(`answered; ${howToResume(name, { limit })} goes on with it\n`);
  return 0;
}
