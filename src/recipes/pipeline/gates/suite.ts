import { basename } from "node:path";
import { formatDuration } from "../../../duration.js";
import { type Captured, capture } from "../../../process/capture.js";
import { oneLine, readable } from "../../../verify/excerpt.js";
import { hasTests, tallyOf } from "../../../verify/no-tests.js";
import { isKnownRunner } from "../../../workspace/runner.js";
import type { MarkedFile } from "./before.js";
import { type Finding, findingsIn } from "./finding.js";

export interface Suite {
  workspace: string;
  /** What the findings are about. */
  file: string;
  command: string;
  timeoutMs: number;
  /** Where its tests are. */
  files?: MarkedFile[] | undefined;
}

/** A suite that passes before anything was written proves nothing later. */
export async function suiteFindings({
  workspace,
  file,
  command,
  timeoutMs,
  files,
}: Suite): Promise<Finding[]> {
  const result = await capture(
    { file: "/bin/sh", args: ["-c", command], cwd: workspace, env: process.env },
    { timeoutMs, leavesNothing: true },
  );
  const isKnown = isKnownRunner(command, workspace);
  const message =
    whyUseless(result, { command, timeoutMs, isKnown }) ?? onlyOldFail(result, command, files ?? []);
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
  if (tallyOf(output).foundNone() || (isPytest && exitCode === PYTEST_NONE))
    return `${command} found no tests`;
  if (exitCode === 0) return `${command} passes before anything was implemented: such tests prove nothing`;
  return hasTests(output) || (!isKnown && hasComplained(output))
    ? undefined
    : `${command} failed before it ran a test: ${whatItSaid(result)}`;
}

/** How runners name a test that failed, or a file with tests that cannot be read. */
const FAILED_TEST =
  /^\s*(?:FAILED|ERROR|FAIL:?|not ok \d+|✖|✗|×|❯|●|--- FAIL:|_* ?ERROR collecting)\s+\S|^test .* \.\.\. FAILED$|\bimported from\b/;

/** Tests that failed before the run began prove nothing of the new ones. Says so where the output tells for sure. */
function onlyOldFail({ stdout, stderr }: Captured, command: string, files: MarkedFile[]): string | undefined {
  const failed = readable(`${stdout}\n${stderr}`)
    .split("\n")
    .filter((line) => FAILED_TEST.test(line));
  const names = (isWanted: (file: MarkedFile) => string[]): string[] =>
    files.flatMap(isWanted).filter(Boolean);
  const news = names(({ news: own, tests, name }) => [
    ...own.map((test) => test.name),
    ...(own.length === tests.length ? [name, basename(name)] : []),
  ]);
  const olds = names(({ news: own, tests, name, isOld }) => [
    ...tests.filter((test) => !own.includes(test)).map((test) => test.name),
    ...(isOld ? [name, basename(name)] : []),
  ]);
  const says = (line: string, all: string[]): boolean => all.some((name) => line.includes(name));
  const isOld = (line: string): boolean => says(line, olds) && !says(line, news);
  if (failed.length === 0 || !failed.every(isOld)) return undefined;
  return `${command} fails in tests from before the run alone (${oneLine(failed[0] ?? "", SAID_CHARS)}): the new tests pass before anything was implemented, and prove nothing`;
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
