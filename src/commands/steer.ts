import { RalphError } from "../errors.js";
import type { LoopEvent } from "../events.js";
import { addSteering } from "../records/words.js";
import { readSpec } from "../run/spec.js";
import { saysSomething } from "../settings/limits.js";
import { runOf, workerOrRun } from "./find-worker.js";

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
  process.stdout.write(`${isLast ? last : `the next iteration of ${name} is told`}\n`);
  return 0;
}
