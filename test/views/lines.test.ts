import { expect, test } from "vitest";
import type { AgentFinished, CheckFinished, LoopEventBody, Totals } from "../../src/events.js";
import { createFormatter } from "../../src/views/format.js";
import { createLines } from "../../src/views/lines.js";
import { LIMITS as limits } from "../kit.js";

const started: LoopEventBody = {
  type: "run.started",
  recipe: "prompt",
  agent: "claude",
  credentials: "ANTHROPIC_API_KEY",
  workspace: "/home/dev/project",
  limits,
};
const iteration = (number: number, mode?: string): LoopEventBody => ({
  type: "iteration.started",
  iteration: number,
  ...(mode !== undefined && { mode }),
});
const agentStarted = (agent = "claude", attempt = 1): LoopEventBody => ({
  type: "agent.started",
  iteration: 1,
  agent,
  command: ["/usr/bin/my-agent", "-p"],
  attempt,
  prompt: "Do it.",
});
const tool = (isError: boolean): LoopEventBody[] => [
  {
    type: "agent.event",
    iteration: 1,
    event: { type: "tool_start", id: "t1", name: "Bash", input: "make" },
  },
  {
    type: "agent.event",
    iteration: 1,
    event: { type: "tool_end", id: "t1", isError, output: "hi\n", lines: 1, chars: 3 },
  },
];
const finished = (fields: Partial<AgentFinished> = {}): LoopEventBody => ({
  type: "agent.finished",
  iteration: 1,
  exitCode: 0,
  signal: null,
  durationMs: 4200,
  costUsd: 0.05,
  inputTokens: 2000,
  outputTokens: 100,
  cacheReadTokens: 400,
  cacheWriteTokens: 0,
  steps: 0,
  error: null,
  empty: false,
  stopped: null,
  finalMessage: "",
  log: "agent.ndjson",
  ...fields,
});
const checked = (fields: Partial<CheckFinished> = {}): LoopEventBody[] => [
  { type: "check.started", iteration: 1, command: "make test" },
  {
    type: "check.finished",
    iteration: 1,
    command: "make test",
    exitCode: 0,
    signal: null,
    timedOut: false,
    passed: true,
    durationMs: 1200,
    log: ".ralph/guardrail_001_make_test.log",
    output: "",
    ...fields,
  },
];
const totals: Totals = {
  costUsd: 0.05,
  inputTokens: 0,
  outputTokens: 0,
  activeMs: 0,
  consecutiveFailures: 0,
  alike: 0,
};
const ended = (reason: string, number = 1): LoopEventBody => ({
  type: "iteration.finished",
  iteration: number,
  passed: false,
  reason,
  durationMs: 6000,
  claimedDone: false,
  totals,
});

const OPENING = "Run r1 · claude (billed to ANTHROPIC_API_KEY) · at most 10 iterations";

/** What comes after the opening line. */
function linesOf(events: LoopEventBody[], options = {}): string[] {
  return allLinesOf(events, options).filter((line) => line !== OPENING);
}

function allLinesOf(events: LoopEventBody[], { useEmoji = true, showAgent = true } = {}): string[] {
  const format = createFormatter({
    useEmoji,
    useColor: false,
    showTimestamp: false,
    maxOutputLines: 3,
    maxOutputChars: 200,
    showProgress: false,
  });
  const lines = createLines(format, showAgent);
  return events.flatMap((event) => lines({ v: 1, ts: "2026-11-15T08:00:00.000Z", run: "r1", ...event }));
}

test("the opening line names the agent, who is billed, and the limits", () => {
  const limited = { ...limits, maxIterations: 1, maxCostUsd: 5, maxTokens: 200_000, maxTimeMs: 7_200_000 };
  expect([
    ...allLinesOf([started]),
    ...allLinesOf([{ ...started, credentials: null, limits: limited } as LoopEventBody]),
  ]).toEqual([OPENING, "Run r1 · claude · at most 1 iteration · $5.00 · 200K tokens · 2h0m"]);
});

const failedCheck = checked({ exitCode: 2, passed: false, failAction: "APPEND" });
const run: LoopEventBody[] = [
  started,
  iteration(1),
  agentStarted(),
  ...tool(true),
  ...tool(false),
  finished(),
  ...checked(),
  ...failedCheck,
  ended("guardrails failed"),
  iteration(2, "review"),
  agentStarted(),
  finished({ costUsd: null, inputTokens: 0, outputTokens: 0 }),
  {
    type: "scm.finished",
    iteration: 2,
    task: "commit",
    passed: true,
    exitCode: 0,
    durationMs: 9,
    message: "Fix\n\nx",
  },
  ended("completed", 2),
  {
    type: "run.finished",
    success: true,
    reason: "completed",
    exitCode: 0,
    iterations: 2,
    costUsd: 0.05,
    inputTokens: 0,
    outputTokens: 0,
    durationMs: 9000,
    filesChanged: 1,
    worktree: null,
  },
];

test("a run of two iterations reads like this", () => {
  expect(linesOf(run)).toEqual([
    "--- Iteration 1/10 ---",
    "⏺ Bash(make)",
    "❌ Error ← Bash (1 line, 3 chars)",
    "  ⎿  hi",
    "⏺ Bash(make)",
    "✅ Result ← Bash (1 line, 3 chars)",
    "  ⎿  hi",
    "✅ Complete (cost: $0.05, tokens: 2K in (400 cached) / 100 out, tools: 2, errors: 1, time: 4.2s)",
    "Guardrail: make test",
    "✅ Passed (exit 0, 1.2s)",
    "Guardrail: make test",
    "❌ Failed (exit 2, 1.2s) → APPEND (log: .ralph/guardrail_001_make_test.log)",
    "Iteration 1/10 · claude · 6.0s · $0.05 · 1/2 checks passed · guardrails failed",
    "",
    "--- Iteration 2/10 (review) ---",
    "✅ Complete (tools: 0, errors: 0, time: 4.2s)",
    "✅ SCM commit: Fix",
    "Iteration 2/10 · claude · 6.0s · completed",
    "",
  ]);
});

test("without the agent's words the tools are counted all the same", () => {
  expect(linesOf([started, iteration(1), ...tool(true), finished()], { showAgent: false })).toEqual([
    "--- Iteration 1/10 ---",
    "✅ Complete (cost: $0.05, tokens: 2K in (400 cached) / 100 out, tools: 1, errors: 1, time: 4.2s)",
  ]);
});

test("an agent that failed says why, in one line", () => {
  const events = [started, iteration(1), agentStarted(), finished({ error: "API Error: 500\nmore" })];
  expect(linesOf(events, { useEmoji: false })).toEqual([
    "--- Iteration 1/10 ---",
    "[ERR] Failed: API Error: 500 (cost: $0.05, tokens: 2K in (400 cached) / 100 out, tools: 0, errors: 0, time: 4.2s)",
  ]);
});

test("an empty answer is asked for again, and its cost is counted", () => {
  const events = [
    iteration(1),
    agentStarted(),
    finished(),
    agentStarted("claude", 2),
    finished(),
    ended("x"),
  ];
  expect(linesOf([started, ...events]).filter((line) => !line.startsWith("✅"))).toEqual([
    "--- Iteration 1/10 ---",
    "Empty answer: asking again (attempt 2)",
    "Iteration 1/10 · claude · 6.0s · $0.10 · x",
    "",
  ]);
});

test("an agent is named as the user calls it", () => {
  expect(linesOf([started, iteration(1), agentStarted("my-agent"), ended("x")])).toEqual([
    "--- Iteration 1/10 ---",
    "Iteration 1/10 · my-agent · 6.0s · x",
    "",
  ]);
});

test("a check that was ended says how", () => {
  const ends = [
    ...checked({ exitCode: null, signal: "SIGKILL", timedOut: true, passed: false, failAction: "REPLACE" }),
    ...checked({ exitCode: null, signal: "SIGSEGV", passed: false }),
  ];
  expect(linesOf(ends, { useEmoji: false }).filter((line) => line.startsWith("["))).toEqual([
    "[ERR] Failed (timed out, 1.2s) -> REPLACE (log: .ralph/guardrail_001_make_test.log)",
    "[ERR] Failed (SIGSEGV, 1.2s) (log: .ralph/guardrail_001_make_test.log)",
  ]);
});

test("a pause, a resume with a raised limit and a backoff are said", () => {
  expect(
    linesOf([
      started,
      { type: "run.paused", iterations: 1, activeMs: 0 },
      {
        type: "run.resumed",
        iterations: 2,
        activeMs: 0,
        agent: "claude",
        limits: { ...limits, maxIterations: 20 },
      },
      { type: "backoff.started", iteration: 3, seconds: 4, attempt: 3, maxAttempts: 5 },
      { type: "run.resumed", iterations: 3, activeMs: 0, agent: "claude" },
      iteration(4),
    ]),
  ).toEqual([
    "Paused after 1 iteration. Continue with: ralph resume r1",
    "Resumed after 2 iterations.",
    "Iteration 3 failed, retrying in 4s (attempt 3/5)",
    "Resumed after 3 iterations.",
    "--- Iteration 4/20 ---",
  ]);
});

test("a commit message of the agent cannot steer the terminal", () => {
  const message = "\u001b[2J\u001b]0;title\u0007Fix\r";
  expect(
    linesOf([
      {
        type: "scm.finished",
        iteration: 1,
        task: "commit",
        passed: true,
        exitCode: 0,
        durationMs: 1,
        message,
      },
    ]),
  ).toEqual(["✅ SCM commit: Fix"]);
});

test("errors and reasons cannot steer the terminal", () => {
  const [failure, , closing] = linesOf([finished({ error: "\u001b[2Jbad" }), ended("\u001b[2Jworse")]);
  expect([failure, closing].join("")).not.toContain("\u001b");
});

test("a story that moves on and a broken rule are told, and cannot steer the terminal", () => {
  const moved = { type: "state.changed", iteration: 1, from: "needs_review", story: "US-1" } as const;
  const events: LoopEventBody[] = [
    { ...moved, to: "approved", title: "Cart\u001b[2J", atCap: true },
    { ...moved, to: "changes_requested" },
    { type: "violation", iteration: 1, what: "prd.md was\u001b[31m changed\nand put back", file: "prd.md" },
  ];
  expect(linesOf(events, { useEmoji: false })).toEqual([
    "[OK] US-1 Cart: needs_review -> approved (at the review cap)",
    "[WARN] US-1: needs_review -> changes_requested",
    "[WARN] Violation: prd.md was changed and put back",
  ]);
});

test("a baseline counts its checks", () => {
  const check = (command: string) => ({ command, before: true, now: true });
  const told = (...checks: string[]): string[] =>
    linesOf([{ type: "baseline.finished", checks: checks.map(check) }]);
  expect([told("a"), told("a", "b")]).toEqual([
    ["Baseline: 1 check passed"],
    ["Baseline: all 2 checks passed"],
  ]);
});

test.each([
  ["every recipe", iteration(1), []],
  [
    "a pipeline",
    { type: "iteration.started", iteration: 2, mode: "A", retries: { count: 1, max: 3 } } as const,
    ["[claude works on A]", "[codex works on A]", "[claude (opus) works on A]", "[claude (opus) works on A]"],
  ],
])("another agent and a stronger model are told when they begin, in %s", (_, begun, works) => {
  const asked = (agent: string, more = {}) => ({ ...agentStarted(agent), ...more }) as LoopEventBody;
  const stronger = asked("claude (opus)", { role: "escalated" });
  const lines = linesOf([
    begun,
    asked("claude"),
    asked("codex", { role: "fallback-1", insteadOf: "claude" }),
    stronger,
    stronger,
  ]).slice(1);
  const [own = [], other = [], first = [], second = []] = works.map((line) => [line]);
  expect(lines).toEqual([
    ...own,
    "⚠️ claude is limited or down: asking codex",
    ...other,
    "⚠️ The run is stuck: asking claude (opus)",
    ...first,
    ...second,
  ]);
});
