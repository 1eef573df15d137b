import { expect, it } from "vitest";
import type { LoopEvent, UsageLimit } from "../../src/events.js";
import { workerFiles } from "../../src/workers/files.js";
import { createRecorder } from "../../src/workers/recorder.js";
import type { WorkerState } from "../../src/workers/state-file.js";
import { temporaryFolder } from "../kit.js";

const STATE: WorkerState = {
  worker_name: "w",
  prompt_file: null,
  max_iterations: 3,
  current_iteration: 2,
  status: "running",
  started: "2026-11-15T08:00:00.000000",
  last_iteration_started: null,
  consecutive_failures: 2,
  total_failures: 2,
  done_pattern: null,
  inactivity_timeout: 900,
};
const OF_A_RUN = { v: 1, ts: "2026-11-15T08:00:00.000Z", run: "r" } as const;
const LIMIT = "the usage limit of claude is reached (--no-wait-for-limits): You've hit your limit";

const finished = (message?: string): LoopEvent => ({
  ...OF_A_RUN,
  ...{ type: "run.finished", success: false, reason: "agent_failed", exitCode: 1, iterations: 2 },
  ...{ costUsd: null, inputTokens: 0, outputTokens: 0, durationMs: 1, filesChanged: null, worktree: null },
  ...(message !== undefined && { message }),
});
const agentFinished = (limit?: UsageLimit): LoopEvent => ({
  ...OF_A_RUN,
  ...{ type: "agent.finished", iteration: 2, exitCode: 1, signal: null, stopped: null, error: "it failed" },
  ...{ finalMessage: "", empty: false, costUsd: null, inputTokens: 0, outputTokens: 0, durationMs: 1 },
  ...{ cacheReadTokens: 0, cacheWriteTokens: 0, steps: 0, log: "l" },
  ...(limit !== undefined && { limit }),
});

it.each<[string, LoopEvent[], string]>([
  [
    "a usage limit that is not waited for",
    [agentFinished({ resetsAt: null, message: "x" }), finished(LIMIT)],
    `stopped: ${LIMIT}`,
  ],
  ["a limit of before", [finished(LIMIT)], `stopped: ${LIMIT}`],
  ["failures", [agentFinished(), finished("it failed")], "2 consecutive failures, stopping loop"],
])("a worker that has stopped for %s says so", (_, events, expected) => {
  const recorder = createRecorder(workerFiles(temporaryFolder(), "w"), STATE);
  expect(events.map((event) => recorder.event(event)).at(-1)).toEqual([`[ralph] w: ${expected}`]);
});
