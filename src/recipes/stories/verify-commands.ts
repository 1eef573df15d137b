import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import type { VerifyContext } from "../../loop/recipe.js";
import { type Check, type CheckResult, hasFailed, notRun } from "../../verify/check.js";
import { type Failure, failureOf } from "../../verify/failure.js";
import { putTextsBack } from "../../verify/protected/disk.js";
import { runChecks } from "../../verify/schedule.js";
import { textAt } from "../../workspace/content.js";
import type { Seen } from "./end-turn.js";
import type { StoriesRun } from "./run.js";
import { tasksToStart } from "./start.js";
import { readTasks } from "./tasks.js";
import type { Turn } from "./turn.js";

const TIMEOUT_MS = 10 * 60_000;

type Events<Result> = AsyncGenerator<LoopEventBody, Result>;

/** Before the first iteration. The files of the stories are what they were before it. */
export async function* runBaseline(
  run: StoriesRun,
  verify: VerifyContext,
): Events<CheckFinished[] | undefined> {
  const { verifyCommands = [] } = tasksToStart(run.spec, run.workspace);
  const { tasks, prd, prompt, progress } = run.files;
  const known = [tasks, prd, prompt, progress].map((file) => ({
    file,
    text: textAt(join(run.workspace, file)),
  }));
  const checks = checksOf(verifyCommands, run.folderFor(verify.iteration));
  const results = yield* runChecks(checks, run, verify);
  const wasThere = known.filter(({ text }) => text !== undefined);
  putTextsBack(run.workspace, wasThere);
  return results?.map(({ event }) => event);
}

function checksOf(commands: string[], folder: string): Check[] {
  return commands.map((command, index) => {
    return { command, timeoutMs: TIMEOUT_MS, log: join(folder, `check-${index + 1}.log`) };
  });
}

/**
 * Runs the commands that the run began with, then those that agents have added, which run where agents run, or not at
 * all. `text`: what the agent made of tasks.json.
 */
export async function* runVerifyCommands(
  run: StoriesRun,
  { commands, before }: Turn,
  { text }: Pick<Seen, "text">,
  verify: VerifyContext,
): Events<Failure[] | undefined> {
  const { verifyCommands = [] } = readTasks(text).tasks ?? before;
  const added = verifyCommands.filter((command) => !commands.includes(command));
  const folder = run.folderFor(verify.iteration);
  // What was put back, and commands before them, have written files since the agent ended.
  const anew = { ...verify, tree: verify.tree && { ...verify.tree, before: undefined } };
  const own = yield* runChecks(checksOf(commands, folder), run, anew);
  const others = own && (yield* runAdded(run, checksOf(added, join(folder, "added")), anew));
  if (own === undefined || others === undefined) return undefined;
  return [...own, ...others].filter(hasFailed).map(({ event }) => failureOf(event, TIMEOUT_MS));
}

async function* runAdded(
  run: StoriesRun,
  checks: Check[],
  verify: VerifyContext,
): Events<CheckResult[] | undefined> {
  if (run.agentSandbox !== undefined) {
    mkdirSync(join(run.folderFor(verify.iteration), "added"), { recursive: true });
    return yield* runChecks(checks, { ...run, sandbox: run.agentSandbox, schedule: undefined }, verify);
  }
  const results = checks.map((check) => notRun(check, verify.iteration, "untrusted"));
  yield* results.map(({ event }) => event);
  return results;
}
