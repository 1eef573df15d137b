import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import type { VerifyContext } from "../../loop/recipe.js";
import { type CheckResult, hasFailed, notRun } from "../../verify/check.js";
import { type Failure, failureOf } from "../../verify/failure.js";
import { putTextsBack } from "../../verify/protected/disk.js";
import { runChecks } from "../../verify/schedule.js";
import { textAt } from "../../workspace/content.js";
import type { Seen } from "./end-turn.js";
import { readTasks } from "./list-check.js";
import { tasksToStart } from "./start-list.js";
import type { StoriesContext, StoriesSpec } from "./stories.js";
import { storyFiles } from "./story-files.js";
import type { Turn } from "./turn.js";

const CHECK_TIMEOUT_MS = 10 * 60_000;

type Events<Result> = AsyncGenerator<LoopEventBody, Result>;

/** Before the first iteration. The files of the stories are what they were before it. */
export async function* runBaseline(
  spec: StoriesSpec,
  place: StoriesContext,
  verify: VerifyContext,
): Events<CheckFinished[] | undefined> {
  const { workspace } = place;
  const { verifyCommands = [] } = tasksToStart(spec, workspace);
  const { tasks, prd, prompt, progress } = storyFiles(spec.dir);
  const known = [tasks, prd, prompt, progress].map((file) => ({ file, text: textAt(join(workspace, file)) }));
  const results = yield* runCommands(verifyCommands, place, verify);
  putTextsBack(
    workspace,
    known.filter(({ text }) => text !== undefined),
  );
  return results?.map(({ event }) => event);
}

/** undefined: a signal came first. */
function runCommands(
  commands: string[],
  place: StoriesContext,
  verify: VerifyContext,
): Events<CheckResult[] | undefined> {
  const folder = place.folderFor(verify.iteration);
  const checks = commands.map((command, index) => ({
    command,
    timeoutMs: CHECK_TIMEOUT_MS,
    log: join(folder, `check-${index + 1}.log`),
  }));
  return runChecks(checks, place, verify);
}

/** Those that the run began with, then those that agents have added: these run where agents run, or not at all. */
export async function* runVerifyCommands(
  { commands, before }: Turn,
  { text }: Pick<Seen, "text">,
  place: StoriesContext,
  verify: VerifyContext,
): Events<Failure[] | undefined> {
  const { verifyCommands = [] } = readTasks(text).tasks ?? before;
  const added = verifyCommands.filter((command) => !commands.includes(command));
  const own = yield* runCommands(commands, place, lookingAnew(verify));
  if (own === undefined) return undefined;
  const others =
    place.agentSandbox === undefined
      ? yield* untrusted(added, verify.iteration)
      : yield* runCommands(added, inside(place), lookingAnew(verify));
  const failed = others && [...own, ...others].filter(hasFailed);
  return failed?.map(({ event }) => failureOf(event, CHECK_TIMEOUT_MS));
}

/** What was put back, and commands before them, have written files since the agent ended. */
function lookingAnew(verify: VerifyContext): VerifyContext {
  return { ...verify, tree: verify.tree && { ...verify.tree, before: undefined } };
}

function inside(place: StoriesContext): StoriesContext {
  return {
    ...place,
    sandbox: place.agentSandbox,
    schedule: undefined,
    folderFor(iteration) {
      const folder = join(place.folderFor(iteration), "added");
      mkdirSync(folder, { recursive: true });
      return folder;
    },
  };
}

async function* untrusted(commands: string[], iteration: number): Events<CheckResult[]> {
  const results = commands.map((command) =>
    notRun({ command, timeoutMs: CHECK_TIMEOUT_MS }, iteration, "untrusted"),
  );
  yield* results.map(({ event }) => event);
  return results;
}
