import { formatDuration } from "../../duration.js";
import { oneLine, readable } from "../../verify/excerpt.js";
import type { TestTally } from "../../verify/no-tests.js";

/** What is known of a gate that has ended. */
export interface Ended {
  passed: boolean;
  timedOut: boolean;
  timeoutMs: number;
  output: string;
  tests: Pick<TestTally, "passed">;
  /** Why it failed although it said nothing of it. */
  why: string | undefined;
  /** Nobody knows how its runner tells of tests. */
  tellsNoCount?: boolean;
}

const LINE_CHARS = 300;
const NO_COUNT = "⚠️ passed, but its output does not tell how many tests ran";

/** How runners name a test that failed, the most exact first. */
const FAILED_TEST = [
  /^FAILED \S+/,
  /^ERROR \S+/,
  /^not ok \d+/,
  /^\s*(?:✖|✗|×|--- FAIL:)\s+\S/,
  /^test .* \.\.\. FAILED$/,
  /^\s*FAIL\s+\S/,
];
const TELLING = [/: error: /, /\berror\b/i, /\bfail/i, /\bnot found\b/i];

/** The one line of an output that says most. */
export function tellingLine(ended: Ended): string {
  const { passed, timedOut, timeoutMs, output, tests, why, tellsNoCount } = ended;
  if (timedOut) return `❌ timed out after ${formatDuration(timeoutMs)}`;
  if (why !== undefined) return `❌ ${why}`;
  const lines = readable(output)
    .split("\n")
    .filter((line) => line.trim() !== "");
  if (passed && tests.passed()) return "✅ All tests passed";
  if (passed && tellsNoCount) return oneLine([NO_COUNT, ...lines.slice(-1)].join(": "), LINE_CHARS);
  const last = lines.at(-1) ?? (passed ? "✅ passed" : "❌ it printed nothing");
  if (passed) return oneLine(last, LINE_CHARS);
  const found = [...FAILED_TEST, ...TELLING].map((pattern) => lines.find((line) => pattern.test(line)));
  return oneLine(found.find((line) => line !== undefined) ?? last, LINE_CHARS);
}
