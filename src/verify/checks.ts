import type { CheckFinished } from "../events.js";
import { createLineSplitter } from "../process/lines.js";
import { type Exit, run } from "../process/run.js";
import { openLog } from "../records/log.js";
import type { Redact } from "../records/redact.js";
import { runInside } from "../sandbox/run-inside.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { isAboutTests } from "../workspace/runner.js";
import { beginning, ending } from "./excerpt.js";
import { failingIn } from "./likeness.js";
import { createTestTally, type TestTally } from "./no-tests.js";

export interface Check {
  command: string;
  timeoutMs: number;
}

export interface CheckContext {
  workspace: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  /** What it leaves running is left alone. */
  keepBackground?: boolean | undefined;
  /** Aborted: the check is killed at once. */
  kill: AbortSignal;
  /** File for all of its output. */
  log: string;
  /** Where it runs, if not as the user would run it. */
  sandbox?: Sandbox | undefined;
  /** Asked when it has ended: why it does not count, whatever it exits with. */
  spoiled?: (() => Promise<string | undefined>) | undefined;
  /** How much of the output to keep, from which end. */
  keep: { chars: number; from: "start" | "end" };
}

export interface CheckResult extends Exit {
  passed: boolean;
  /** What all of its output says of tests. */
  tests: TestTally;
  /** What was kept of stdout and stderr together. */
  output: string;
  /** There was more than what was kept. */
  truncated: boolean;
  /** The last lines of it, for people. */
  tail: string;
  logError?: string;
  /** The same word for failures that name the same tests. */
  failing?: string;
  /** Why it does not count, whatever its exit code; it is the end of the output, too. */
  why?: string;
}

const NO_TESTS = "exit 0, but no test was run";
const TAIL_CHARS = 2000;

/** A line that says how many tests ran is never longer; one that was redrawn often may be. */
const LINE_BYTES = 64 * 1024;

/** Runs one check as the user would type it. Exit 0 is a pass, unless it had tests to run and ran none. */
export async function runCheck(check: Check, context: CheckContext): Promise<CheckResult> {
  const log = openLog(context.log, context.redact);
  const kept = keeper(context.keep, context.redact);
  const tail = keeper({ chars: TAIL_CHARS, from: "end" }, context.redact);
  const tests = createTestTally();
  const lines = createLineSplitter(LINE_BYTES);
  const command = { ...shell(check.command), cwd: context.workspace, env: context.env };
  const { sandbox, keepBackground } = context;
  const options = { stop: context.kill, timeoutMs: check.timeoutMs, leavesNothing: !keepBackground };
  const process = sandbox === undefined ? run(command, options) : runInside(sandbox, { command }, options);
  let step = await process.next();
  const add = (data: Buffer): void => {
    log.write(data);
    kept.add(data);
    tail.add(data);
  };
  for (; !step.done; step = await process.next()) {
    add(step.value.data);
    for (const line of lines.push(step.value.data)) tests.add(line);
  }
  for (const line of lines.end()) tests.add(line);
  const spoiled = await context.spoiled?.();
  if (spoiled !== undefined) add(Buffer.from(`${spoiled}\n`));
  const isWell = step.value.exitCode === 0 && !step.value.timedOut;
  const ranNone = isWell && tests.foundNone() && isAboutTests(check.command, context.workspace);
  const why = spoiled ?? (ranNone ? NO_TESTS : undefined);
  const logError = log.close();
  const passed = isWell && why === undefined;
  const failing = passed ? undefined : await failingIn(context.log);
  return {
    ...step.value,
    passed,
    tests,
    ...(failing !== undefined && { failing }),
    ...(why !== undefined && { why }),
    ...kept.result(),
    tail: tail.result().output,
    ...(logError !== undefined && { logError }),
  };
}

/** What came of a check, as it is recorded. */
export function checkFinished(
  { iteration, command, log }: Pick<CheckFinished, "iteration" | "command" | "log">,
  result: CheckResult,
  output: string,
): CheckFinished {
  const { exitCode, signal, timedOut, passed, logError, failing, why, left } = result;
  return {
    type: "check.finished",
    iteration,
    command,
    exitCode,
    signal,
    timedOut,
    passed,
    durationMs: Math.round(result.durationMs),
    log,
    output,
    ...(failing !== undefined && { failing }),
    ...(why !== undefined && { why }),
    ...(left !== undefined && { left }),
    ...(logError !== undefined && { logError }),
  };
}

/** stdout and stderr share one pipe, so that their lines keep their order. */
function shell(command: string): { file: string; args: string[] } {
  return { file: "/bin/sh", args: ["-c", `exec 2>&1; ${command}`] };
}

/** A character has four bytes at the most; a secret at the border has to be seen whole. */
const BYTES_PER_CHAR = 4;
const MARGIN_BYTES = 4096;

/** Bytes of one end of an output that may be endless. */
function keeper({ chars, from }: CheckContext["keep"], redact: Redact) {
  const limit = chars * BYTES_PER_CHAR + MARGIN_BYTES;
  let pieces: Buffer[] = [];
  let size = 0;
  const addStart = (data: Buffer): void => {
    const room = limit - size;
    if (room <= 0) return;
    pieces.push(data.subarray(0, room));
    size += Math.min(room, data.length);
  };
  const addEnd = (data: Buffer): void => {
    pieces.push(data);
    size += data.length;
    if (size <= limit * 2) return;
    pieces = [Buffer.concat(pieces).subarray(-limit)];
    size = limit;
  };
  return {
    add: from === "start" ? addStart : addEnd,
    /** What is kept of it, without secrets, and whether there was more. */
    result(): { output: string; truncated: boolean } {
      const all = redact(Buffer.concat(pieces).toString("utf8"));
      if (all.length <= chars) return { output: all, truncated: false };
      const output = from === "start" ? beginning(all, chars) : ending(all, chars);
      return { output, truncated: true };
    },
  };
}
