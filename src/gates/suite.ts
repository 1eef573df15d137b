import { formatDuration } from "../duration.js";
import { type Captured, capture } from "../process/capture.js";
import { oneLine, readable } from "../verify/excerpt.js";
import { foundNoTests, hasTests } from "../verify/no-tests.js";
import { isKnownRunner } from "../workspace/runner.js";
import { type Finding, findingsIn } from "./finding.js";

export interface Suite {
  workspace: string;
  /** What the findings are about. */
  file: string;
  command: string;
  timeoutMs: number;
}

/** A suite that passes before anything was written proves nothing later. */
export async function suiteFindings({ workspace, file, command, timeoutMs }: Suite): Promise<Finding[]> {
  const result = await capture(
    { file: "/bin/sh", args: ["-c", command], cwd: workspace, env: process.env },
    { timeoutMs, leavesNothing: true },
  );
  const message = whyUseless(result, { command, timeoutMs, isKnown: isKnownRunner(command, workspace) });
  return message === undefined ? [] : [findingsIn(file).error(1, message)];
}

/** pytest says so when there was nothing to run. */
const PYTEST_NONE = 5;

interface Runner extends Pick<Suite, "command" | "timeoutMs"> {
  isKnown: boolean;
}

function whyUseless(result: Captured, { command, timeoutMs, isKnown }: Runner): string | undefined {
  const { exitCode, timedOut, stdout, stderr } = result;
  if (timedOut) return `${command} did not end within ${formatDuration(timeoutMs)}`;
  if (exitCode === 126 || exitCode === 127) return `${command} could not be started (exit code ${exitCode})`;
  const isPytest = /\bpytest\b/.test(command);
  const output = `${stdout}\n${stderr}`;
  if (foundNoTests(output) || (isPytest && exitCode === PYTEST_NONE)) return `${command} found no tests`;
  if (exitCode === 0) return `${command} passes before anything was implemented: such tests prove nothing`;
  return hasTests(output) || (!isKnown && hasComplained(output))
    ? undefined
    : `${command} failed before it ran a test: ${whatItSaid(result)}`;
}

/** Of a runner that is not known: it was there, and has something to say against the work. */
function hasComplained(output: string): boolean {
  return output.trim() !== "" && !NOT_THERE.test(output);
}

const NOT_THERE = /No rule to make target|not found|no such file|permission denied|syntax error/i;

const SAID_CHARS = 200;

function whatItSaid({ exitCode, stdout, stderr }: Captured): string {
  const lines = readable(`${stdout}\n${stderr}`)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const telling = lines.find((line) => /error|not found|no such/i.test(line)) ?? lines.at(-1);
  return telling === undefined ? `exit code ${exitCode}` : oneLine(telling, SAID_CHARS);
}
