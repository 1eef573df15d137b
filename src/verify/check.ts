import { resolve } from "node:path";
import type { CheckFinished } from "../events.js";
import { createLineSplitter } from "../process/output.js";
import { type Command, run } from "../process/run.js";
import { openLog, type Redact } from "../records/redact.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { runInside } from "../sandbox/sandbox.js";
import type { Verification } from "../tree.js";
import { isAboutTests } from "../workspace/project.js";
import { createExcerpt, ending, readable } from "./excerpt.js";
import { createTestTally, type TestTally } from "./no-tests.js";

/** A command whose exit code decides; the gate of a pipeline's state is one, too. */
export interface Check {
  /** Its name, if that is not its command. */
  name?: string | undefined;
  command: string;
  /** The script to run, if `command` is only its name. No process shows it in its arguments. */
  script?: string | undefined;
  timeoutMs: number;
  /** Guidance for the agent when it fails. */
  hint?: string | undefined;
  /** The file for its output, absolute or relative to the workspace; without it, none is kept. */
  log?: string;
  /** Patterns of the files that it depends on, if known. */
  inputs?: readonly string[] | undefined;
  /** Known to change its result without a reason: ralph retries it when it fails. */
  flaky?: "retry" | undefined;
  /** For checks that need more than exit 0: runs the check and returns the result that counts. */
  judge?(run: () => Promise<CheckResult>): Promise<CheckResult>;
}

/** Where and how the checks of a run execute. */
export interface CheckSetup {
  workspace: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  /** How much of an output people and agents get: `outputTruncateChars` in the settings. */
  outputChars?: number | undefined;
  /** Do not end what a check leaves running. */
  keepBackground?: boolean | undefined;
  /** Without it, checks run as the user would run them. */
  sandbox?: Sandbox | undefined;
  /** Called after a check: why it does not count, whatever its exit code. */
  spoiled?: (() => Promise<string | undefined>) | undefined;
}

/** The event at the end of a check, and what recipes need beyond it. */
export interface CheckResult {
  check: Check;
  event: CheckFinished;
  /** The end of its output, unchanged, several times as long as in the event. */
  output: string;
  /** What its whole output says about tests. */
  tests: TestTally;
}

const CHARS = 5000;
/** Removing colours and redrawn lines shortens an output before it is cut. */
const RAW_PER_CHAR = 8;
/** A line with the number of tests is never longer, but a line that is redrawn often may be. */
const LINE_BYTES = 64 * 1024;

/** Runs one check as the user would type it. Exit 0 is a pass, unless it had tests to run and ran none. */
export async function runCheck(
  check: Check,
  setup: CheckSetup,
  { iteration, kill }: Pick<Verification, "iteration" | "kill">,
): Promise<CheckResult> {
  const { name, command, timeoutMs } = check;
  const { workspace, env, sandbox, keepBackground, redact } = setup;
  const { outputChars: chars = CHARS } = setup;
  const log = check.log === undefined ? undefined : openLog(resolve(workspace, check.log), redact);
  const end = createEnd(chars * RAW_PER_CHAR);
  const tests = createTestTally();
  const excerpt = createExcerpt(chars, redact);
  const lines = createLineSplitter(LINE_BYTES);
  const read = (line: string): void => {
    tests.add(line);
    excerpt.add(line);
  };
  const take = (data: Buffer): void => {
    log?.write(data);
    end.add(data);
    for (const line of lines.push(data)) read(line);
  };
  // stdout and stderr share one pipe, so that their lines keep their order.
  const shell = { file: "/bin/sh", ...shellWords(check), cwd: workspace, env };
  const options = { stop: kill, timeoutMs, leavesNothing: !keepBackground };
  const process = sandbox ? runInside(sandbox, { command: shell }, options) : run(shell, options);
  let step = await process.next();
  for (; !step.done; step = await process.next()) take(step.value.data);
  const { exitCode, signal, timedOut, left, durationMs } = step.value;
  const spoiled = await setup.spoiled?.();
  take(Buffer.from(spoiled === undefined ? "" : `${spoiled}\n`));
  for (const line of lines.end()) read(line);
  const isWell = exitCode === 0 && !timedOut;
  const ranNoTest = isWell && tests.foundNone() && isAboutTests(check.script ?? command, workspace);
  const why = spoiled ?? (ranNoTest ? "exit 0, but it ran no test" : undefined);
  const logError = log?.close();
  const passed = isWell && why === undefined;
  const failing = passed ? undefined : await tests.failing();
  const { output, isWhole } = end.result(redact);
  const event: CheckFinished = {
    ...{ type: "check.finished", iteration, command, exitCode, signal, timedOut, passed },
    durationMs: Math.round(durationMs),
    log: check.log ?? "",
    output: excerpt.result(readable(output), isWhole),
    ...whatIsKnown({ name, failing, why, left, logError }),
  };
  return { check, event, output, tests };
}

/** Agents of other runs can read the arguments of every process: the shell reads a script from stdin. */
function shellWords({ command, script }: Check): Pick<Command, "args" | "stdin"> {
  if (script === undefined) return { args: ["-c", `exec 2>&1; ${command}`] };
  return { args: ["-c", 'script=$(cat); exec 2>&1 < /dev/null; eval "$script"'], stdin: script };
}

function whatIsKnown<Facts extends object>(facts: Facts) {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [Key in keyof Facts]?: NonNullable<Facts[Key]> };
}

/** A check that did not run has not failed. */
export function hasFailed({ event }: Pick<CheckResult, "event">): boolean {
  return !event.passed && event.skipped === undefined;
}

/** The result of a check that did not run. With unchanged inputs, it passes as before. */
export function notRun(
  check: Check,
  iteration: number,
  skipped: NonNullable<CheckFinished["skipped"]>,
): CheckResult {
  const { name, command } = check;
  const event: CheckFinished = {
    ...{ type: "check.finished", iteration, command, exitCode: null, signal: null },
    ...{ timedOut: false, passed: skipped === "unchanged", durationMs: 0, log: "", output: "", skipped },
    ...whatIsKnown({ name }),
  };
  return { check, event, output: "", tests: createTestTally() };
}

/** A character has four bytes at most; redaction must see a secret at the border whole. */
const BYTES_PER_CHAR = 4;
const MARGIN_BYTES = 4096;

/** Keeps the end of an output of any length. */
function createEnd(chars: number) {
  const tailBytes = chars * BYTES_PER_CHAR + MARGIN_BYTES;
  let tail: Buffer[] = [];
  let size = 0;
  let isWhole = true;
  return {
    add(data: Buffer): void {
      tail.push(data);
      size += data.length;
      if (size <= tailBytes * 2) return;
      tail = [Buffer.concat(tail).subarray(-tailBytes)];
      size = tailBytes;
      isWhole = false;
    },
    result(redact: Redact): { output: string; isWhole: boolean } {
      const all = redact(Buffer.concat(tail).toString("utf8"));
      return { output: ending(all, chars), isWhole: isWhole && all.length <= chars };
    },
  };
}
