import { expect, test } from "vitest";
import type { LoopEventBody } from "../../src/events.js";
import { createConsoleFormatter } from "../../src/views/agent-lines.js";
import { statusText } from "../../src/views/console.js";
import { linesOf as linesOfEvent } from "../../src/views/lines.js";
import { createProject, LIMITS as limits } from "../kit.js";
import {
  agentStarted,
  checked,
  iterationFinished as ended,
  agentFinished as finished,
  folded,
  runFinished,
  STARTED,
} from "./events.js";

const started: LoopEventBody = { ...STARTED, credentials: "ANTHROPIC_API_KEY" };
const iteration = (number: number, mode?: string): LoopEventBody => ({
  type: "iteration.started",
  iteration: number,
  ...(mode !== undefined && { mode }),
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

const OPENING = "Run r1 · claude (billed to ANTHROPIC_API_KEY) · at most 10 iterations";

/** What comes after the opening line. */
function linesOf(events: LoopEventBody[], options = {}): string[] {
  return allLinesOf(events, options).filter((line) => line !== OPENING);
}

function allLinesOf(events: LoopEventBody[], { useEmoji = true, showAgent = true } = {}): string[] {
  const format = createConsoleFormatter({
    useEmoji,
    useColor: false,
    showTimestamp: false,
    maxOutputLines: 3,
    maxOutputChars: 200,
    showProgress: false,
  });
  return folded(events, (event, state) => linesOfEvent(event, state, format, showAgent)).flat();
}

test("the opening line names the agent, who is billed, and the limits", () => {
  const limited = { ...limits, maxIterations: 1, maxCostUsd: 5, maxTokens: 200_000, maxTimeMs: 7_200_000 };
  expect([
    ...allLinesOf([started]),
    ...allLinesOf([{ ...started, credentials: null, limits: limited } as LoopEventBody]),
  ]).toEqual([OPENING, "Run r1 · claude · at most 1 iteration · $5.00 · 200K tokens · 2h0m"]);
});

const committed = (message: string): LoopEventBody => {
  const ended = { passed: true, exitCode: 0, durationMs: 9 };
  return { type: "scm.finished", iteration: 2, task: "commit", ...ended, message };
};
const failedCheck = checked({ exitCode: 2, passed: false, failAction: "APPEND" });
const run: LoopEventBody[] = [
  started,
  iteration(1),
  agentStarted(),
  ...tool(true),
  ...tool(false),
  finished({ steps: 2 }),
  ...checked(),
  ...failedCheck,
  ended("checks\u001b[2J failed"),
  iteration(2, "review"),
  agentStarted(),
  finished({ costUsd: null, inputTokens: 0, outputTokens: 0 }),
  committed("\u001b[2J\u001b]0;title\u0007Fix\r\n\nx"),
  ended("completed", 2),
  runFinished({ success: true, reason: "completed", exitCode: 0 }),
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
    "Check: make test",
    "✅ Passed (exit 0, 1.2s)",
    "Check: make test",
    "❌ Failed (exit 2, 1.2s) → APPEND (log: .ralph/guardrail_001_make_test.log)",
    "Iteration 1/10 · claude · 6.0s · $0.05 · 1/2 checks passed · checks failed",
    "",
    "--- Iteration 2/10 (review) ---",
    "✅ Complete (tools: 0, errors: 0, time: 4.2s)",
    "✅ SCM commit: Fix",
    "Iteration 2/10 · claude · 6.0s · completed",
    "",
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

test("a story that moves on and a broken rule are told, and cannot steer the terminal", () => {
  const moved = { type: "state.changed", iteration: 1, from: "needs_review", story: "US-1" } as const;
  const events: LoopEventBody[] = [
    { ...moved, to: "approved", title: "Cart\u001b[2J", reviews: 3, reviewCap: 3, atCap: true },
    { ...moved, to: "changes_requested", reviews: 1, reviewCap: 3, feedback: "fix line 3\nand more" },
    { ...moved, from: "todo", to: "needs_review", title: "Cart" },
    { type: "violation", iteration: 1, what: "prd.md was\u001b[31m changed\nand put back", file: "prd.md" },
  ];
  expect(linesOf(events, { useEmoji: false })).toEqual([
    "[OK] US-1 · review 3/3: approved at the review cap: Cart",
    "[WARN] US-1 · review 1/3: changes requested: fix line 3",
    "[OK] US-1 · implemented, waits for review: Cart",
    "[WARN] Violation: prd.md was changed and put back",
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
  const asked = (agent: string, more = {}) => agentStarted({ agent, ...more });
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

test("the status line says where the run stands, and how long a wait lasts", () => {
  const events = [started, iteration(2), agentStarted({ iteration: 2 }), finished({ iteration: 2 })];
  const at = Date.parse("2026-11-15T08:00:07.000Z");
  const texts = folded(events, (_, state) =>
    statusText(state, { text: "usage limit of\nclaude", until: "2026-11-15T10:00:00.000Z" }, at),
  );
  expect([texts[0], texts[3]]).toEqual([
    "claude · 7.0s · 1h59m left · usage limit of claude",
    "iteration 2/10 · claude · 7.0s · $0.05 · 1h59m left · usage limit of claude",
  ]);
});

test("what an agent says steers neither the terminal of -V nor one that shows --json", async () => {
  const p = createProject();
  const hostile = "\u001b]0;title\u0007\u001b]52;c;aGk=\u0007\u001bP$q q\u001b\\\\\u009b31m\u007fend";
  p.agent([{ text: `${hostile}\n<response>DONE</response>` }]);
  const flags = ["-p", `do ${hostile}`, "--agent", "claude", "--check", `true '${hostile}'`];
  const controls = /[^\P{Cc}\n\t]/u;
  const verbose = await p.ralph("run", "-V", ...flags);
  expect(verbose.all).toContain("[ralph] Prompt: do ");
  expect(verbose.all).not.toMatch(controls);
  const json = await p.ralph("run", "--json", "-V", ...flags);
  expect(json.stdout).toContain("\\u009b31m\\u007fend");
  expect(json.stdout).not.toMatch(controls);
  expect((await p.ralph("report", "--json")).stdout).not.toMatch(controls);
});
