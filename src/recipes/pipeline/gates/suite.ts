import { basename } from "node:path";
import { formatDuration } from "../../../duration.js";
import { type CheckResult, runCheck } from "../../../verify/check.js";
import { oneLine } from "../../../verify/excerpt.js";
import { hasTests } from "../../../verify/no-tests.js";
import { isKnownRunner } from "../../../workspace/runner.js";
import { findingsIn, type GateFinding } from "./gate.js";
import type { MarkedFile } from "./test-files.js";

export interface Suite {
  workspace: string;
  /** What the findings are about. */
  file: string;
  command: string;
  timeoutMs: number;
  /** Where its tests are. */
  files?: MarkedFile[] | undefined;
}

const CHARS = 100_000;
const LINE_CHARS = 200;

/** A suite that passes before anything was written proves nothing later. */
export async function suiteFindings(suite: Suite): Promise<GateFinding[]> {
  const { workspace, file, command, timeoutMs, files = [] } = suite;
  const setup = { workspace, env: process.env, redact: (text: string): string => text };
  const { signal: kill } = new AbortController();
  const result = await runCheck({ command, timeoutMs, chars: CHARS }, setup, { iteration: 0, kill });
  const why = whyUseless(suite, result) ?? onlyOldFail(result.event.output, files);
  return why === undefined ? [] : [findingsIn(file).error(1, `${command} ${why}`)];
}

/** pytest exits so when there was nothing to run. */
const PYTEST_NONE = 5;
const NOT_THERE = /No rule to make target|not found|no such file|permission denied|syntax error/i;

function whyUseless(
  { command, timeoutMs, workspace }: Suite,
  { event, tests }: CheckResult,
): string | undefined {
  const { exitCode, timedOut, output } = event;
  if (timedOut) return `did not end within ${formatDuration(timeoutMs)}`;
  if (exitCode === 126 || exitCode === 127) return `could not be started (exit code ${exitCode})`;
  const isPytest = /\bpytest\b/.test(command);
  if (tests.foundNone() || (isPytest && exitCode === PYTEST_NONE)) return "found no tests";
  if (exitCode === 0) return "passes before anything was implemented: such tests prove nothing";
  // A runner that is not known was there, and has something to say against the work.
  const complains = !isKnownRunner(command, workspace) && output.trim() !== "" && !NOT_THERE.test(output);
  if (complains || hasTests(output)) return undefined;
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const telling = lines.find((line) => /error|not found|no such/i.test(line)) ?? lines.at(-1);
  return `failed before it ran a test: ${telling === undefined ? `exit code ${exitCode}` : oneLine(telling, LINE_CHARS)}`;
}

/** How runners name a test that failed, or a file with tests that cannot be read. */
const FAILED_TEST =
  /^\s*(?:FAILED|ERROR|FAIL:?|not ok \d+|✖|✗|×|❯|●|--- FAIL:|_* ?ERROR collecting)\s+\S|^test .* \.\.\. FAILED$|\bimported from\b/;

/** Tests that failed before the run began prove nothing of the new ones. Says so where the output tells for sure. */
function onlyOldFail(output: string, files: MarkedFile[]): string | undefined {
  const failed = output.split("\n").filter((line) => FAILED_TEST.test(line));
  const names = files.map(({ name, tests, news, isOld }) => {
    const [own, old] = [news.map((test) => test.name), tests.filter((test) => !news.includes(test))];
    const both = [name, basename(name)];
    return {
      news: [...own, ...(news.length === tests.length ? both : [])],
      olds: [...old.map((test) => test.name), ...(isOld ? both : [])],
    };
  });
  const says = (line: string, which: "news" | "olds"): boolean =>
    names.some((file) => file[which].some((name) => name !== "" && line.includes(name)));
  if (failed.length === 0 || !failed.every((line) => says(line, "olds") && !says(line, "news")))
    return undefined;
  return `fails in tests from before the run alone (${oneLine(failed[0] ?? "", LINE_CHARS)}): the new tests pass before anything was implemented, and prove nothing`;
}
