import { resolve } from "node:path";
import type { CheckFinished } from "../events.js";
import { createLineSplitter } from "../process/lines.js";
import { type Exit, run } from "../process/run.js";
import { openLog } from "../records/log.js";
import type { Redact } from "../records/redact.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { runInside } from "../sandbox/sandbox.js";
import type { Verification } from "../tree.js";
import { isAboutTests } from "../workspace/runner.js";
import { beginning, ending, readable } from "./excerpt.js";
import { createTestTally, type TestTally } from "./no-tests.js";

/** A command whose exit code decides: a guardrail, a check, a verify command or a gate. */
export interface Check {
  command: string;
  timeoutMs: number;
  /** File for all of its output, absolute or from the workspace on; left out: none is kept. */
  log?: string;
  /** Patterns of the files that it depends on, where they are known. */
  inputs?: readonly string[] | undefined;
  /** How much of the end of its output its event holds; 2,000 unless it is given. */
  chars?: number;
  /** How much of the beginning the recipe needs besides. */
  headChars?: number;
  /** For checks that ask for more than exit 0: runs the check and returns the result that counts. */
  judge?(run: () => Promise<CheckResult>): Promise<CheckResult>;
}

/** Where and how the checks of a run are run. */
export interface CheckSetup {
  workspace: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  /** Whatever a check leaves running is left alone. */
  keepBackground?: boolean | undefined;
  /** Left out: checks run as the user would run them. */
  sandbox?: Sandbox | undefined;
  /** Called when a check has ended: why it does not count, whatever its exit code. */
  spoiled?: (() => Promise<string | undefined>) | undefined;
}

/** The event of a check that has ended, and what recipes need beyond it. */
export interface CheckResult {
  check: Check;
  event: CheckFinished;
  /** The end of its output as it was printed, several times as long as that of the event. */
  output: string;
  /** The beginning of its output. */
  head: string;
  /** There was more than the beginning. */
  isCut: boolean;
  /** What all of its output says about tests. */
  tests: TestTally;
}

const NO_TESTS = "exit 0, but no test was run";
const CHARS = 2000;
/** Colours and redrawn lines are taken out of an output before it is cut. */
const RAW_PER_CHAR = 8;
/** A line that says how many tests ran is never longer; one that was redrawn often may be. */
const LINE_BYTES = 64 * 1024;

/** Runs one check as the user would type it. Exit 0 is a pass, unless it had tests to run and ran none. */
export async function runCheck(
  check: Check,
  setup: CheckSetup,
  { iteration, kill }: Pick<Verification, "iteration" | "kill">,
): Promise<CheckResult> {
  const { command, chars = CHARS } = check;
  const path = check.log === undefined ? "" : resolve(setup.workspace, check.log);
  const log = path === "" ? undefined : openLog(path, setup.redact);
  const ends = createEnds(check.headChars ?? 0, chars * RAW_PER_CHAR);
  const tests = createTestTally();
  const add = (data: Buffer): void => {
    log?.write(data);
    ends.add(data);
  };
  const exit = await runCommand(check, setup, kill, { add, tests });
  const { exitCode, signal, timedOut, left } = exit;
  const spoiled = await setup.spoiled?.();
  if (spoiled !== undefined) add(Buffer.from(`${spoiled}\n`));
  const isWell = exitCode === 0 && !timedOut;
  const why = spoiled ?? (isWell && ranNoTest(check, setup, tests) ? NO_TESTS : undefined);
  const logError = log?.close();
  const passed = isWell && why === undefined;
  const failing = passed ? undefined : await tests.failing();
  const printed = ends.result(setup.redact);
  const event: CheckFinished = {
    ...{ type: "check.finished", iteration, command, exitCode, signal, timedOut, passed },
    durationMs: Math.round(exit.durationMs),
    log: check.log ?? "",
    output: ending(readable(printed.output), chars),
    ...(failing !== undefined && { failing }),
    ...(why !== undefined && { why }),
    ...(left !== undefined && { left }),
    ...(logError !== undefined && { logError }),
  };
  return { check, event, ...printed, tests };
}

function ranNoTest({ command }: Check, { workspace }: CheckSetup, tests: TestTally): boolean {
  return tests.foundNone() && isAboutTests(command, workspace);
}

async function runCommand(
  { command, timeoutMs }: Check,
  { workspace, env, sandbox, keepBackground }: CheckSetup,
  kill: AbortSignal,
  { add, tests }: { add(data: Buffer): void; tests: TestTally },
): Promise<Exit> {
  // stdout and stderr share one pipe, so that their lines keep their order.
  const shell = { file: "/bin/sh", args: ["-c", `exec 2>&1; ${command}`], cwd: workspace, env };
  const options = { stop: kill, timeoutMs, leavesNothing: !keepBackground };
  const process = sandbox ? runInside(sandbox, { command: shell }, options) : run(shell, options);
  const lines = createLineSplitter(LINE_BYTES);
  let step = await process.next();
  for (; !step.done; step = await process.next()) {
    add(step.value.data);
    for (const line of lines.push(step.value.data)) tests.add(line);
  }
  for (const line of lines.end()) tests.add(line);
  return step.value;
}

/** A check that was not run has not failed. */
export function hasFailed({ event }: Pick<CheckResult, "event">): boolean {
  return !event.passed && event.skipped === undefined;
}

/** The result of a check that was not run. One whose inputs are unchanged passes as it did. */
export function notRun(
  check: Check,
  iteration: number,
  skipped: NonNullable<CheckFinished["skipped"]>,
): CheckResult {
  const event: CheckFinished = {
    ...{ type: "check.finished", iteration, command: check.command, exitCode: null, signal: null },
    ...{ timedOut: false, passed: skipped === "unchanged", durationMs: 0, log: "", output: "", skipped },
  };
  return { check, event, output: "", head: "", isCut: false, tests: createTestTally() };
}

/** A character has four bytes at the most; a secret at the border has to be seen whole. */
const BYTES_PER_CHAR = 4;
const MARGIN_BYTES = 4096;

/** Both ends of an output that may be endless. */
function createEnds(headChars: number, tailChars: number) {
  const headBytes = headChars === 0 ? 0 : headChars * BYTES_PER_CHAR + MARGIN_BYTES;
  const tailBytes = tailChars * BYTES_PER_CHAR + MARGIN_BYTES;
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer[] = [];
  let size = 0;
  return {
    add(data: Buffer): void {
      if (head.length < headBytes) head = Buffer.concat([head, data.subarray(0, headBytes - head.length)]);
      tail.push(data);
      size += data.length;
      if (size <= tailBytes * 2) return;
      tail = [Buffer.concat(tail).subarray(-tailBytes)];
      size = tailBytes;
    },
    result(redact: Redact): Pick<CheckResult, "output" | "head" | "isCut"> {
      const first = redact(head.toString("utf8"));
      const output = ending(redact(Buffer.concat(tail).toString("utf8")), tailChars);
      return { output, head: beginning(first, headChars), isCut: first.length > headChars };
    },
  };
}
