import { RalphError } from "../errors.js";
import { hasAnswer, storeAnswer } from "../records/answer.js";
import { isAtWork } from "../records/run-status.js";
import { readRun, runFolder } from "../records/runs.js";
import { readSpec } from "../run/spec.js";
import { saysSomething } from "../settings/limits.js";
import { howToResume } from "../views/summary.js";
import { recordOf } from "../workers/record.js";
import { warn, workerOrRun } from "./find-worker.js";

/** `ralph answer RUN TEXT`: keeps the answer to what an agent asked, for when the run goes on. */
export async function answer(name: string, text: string): Promise<number> {
  saysSomething("TEXT", text);
  const found = workerOrRun(name);
  const run = "run" in found ? found.run : runFolder(found.home, recordOf(found.folder).run);
  const { question, limit } = readRun(run)?.state ?? {};
  const isRunning = isAtWork(found.home, run.id, readSpec(run).workspace);
  if (question === undefined || isRunning) throw didNotAsk(name, isRunning);
  if (hasAnswer(run)) warn("the answer that was given before is replaced");
  storeAnswer(run, question, text);
  process.stdout.write(`answered; ${howToResume(name, { limit })} goes on with it\n`);
  return 0;
}

function didNotAsk(name: string, isRunning: boolean): RalphError {
  return new RalphError(`${name} has not asked anything`, {
    code: "nothing_asked",
    exitCode: 1,
    hint: isRunning
      ? `it is running: ralph steer ${name} TEXT tells it something`
      : "only a run that stopped as blocked with a question can be answered",
  });
}
