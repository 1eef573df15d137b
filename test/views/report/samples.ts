import type { FileChange } from "../../../src/events.js";
import type { CheckReport, IterationReport } from "../../../src/records/iteration.js";
import type { Report } from "../../../src/records/report.js";
import { LIMITS } from "../../kit.js";

const START = Date.parse("2026-01-26T18:55:00.000Z");
const SECOND = 1000;
const MINUTE = 60_000;

export function at(ms: number): string {
  return new Date(START + ms).toISOString();
}

export function report(fields: Partial<Report> = {}): Report {
  return {
    v: 1,
    name: null,
    run: "20260126-185500-3f9a",
    recipe: "prompt",
    task: "Make the tests pass.",
    agent: "claude",
    workspace: "/home/dev/shop",
    limits: LIMITS,
    startedAt: at(0),
    lastAt: at(0),
    status: "finished",
    reason: "completed",
    success: true,
    exitCode: 0,
    message: null,
    question: null,
    costUsd: null,
    inputTokens: 0,
    outputTokens: 0,
    durationMs: 0,
    filesChanged: null,
    files: [],
    worktree: null,
    unsettled: null,
    receipt: null,
    unproven: null,
    limit: null,
    final: false,
    baseline: [],
    iterations: [],
    stories: [],
    ...fields,
  };
}

export function iteration(number: number, fields: Partial<IterationReport> = {}): IterationReport {
  return {
    iteration: number,
    mode: null,
    about: null,
    agent: null,
    startedAt: at((number - 1) * MINUTE),
    finished: true,
    passed: true,
    claimedDone: true,
    reason: "completed",
    durationMs: MINUTE,
    agentMs: 50 * SECOND,
    costUsd: null,
    inputTokens: 0,
    outputTokens: 0,
    tools: 0,
    toolErrors: 0,
    error: null,
    finalMessage: "",
    checks: [],
    scm: [],
    states: [],
    violations: [],
    waits: [],
    ...fields,
  };
}

export function check(command: string, fields: Partial<CheckReport> = {}): CheckReport {
  const passed = fields.passed ?? true;
  return {
    command,
    passed,
    exitCode: passed ? 0 : 1,
    signal: null,
    timedOut: false,
    durationMs: 10 * SECOND,
    log: `.ralph/guardrail_1_${command.replace(/\W+/g, "_").slice(0, 20)}.log`,
    output: passed ? "" : "expected 4 to be 5\n1 test failed",
    skipped: null,
    place: 1,
    ...fields,
  };
}

const failing = { passed: false, reason: "checks failed" };

/** Two iterations that fail, one that does not. */
export const demo = report({
  lastAt: at(3 * MINUTE),
  costUsd: 0.42,
  inputTokens: 48_200,
  outputTokens: 3100,
  durationMs: 3 * MINUTE,
  filesChanged: 1,
  files: [{ path: "src/sum.js", change: "modified", added: 3, removed: 1 }],
  iterations: [
    iteration(1, {
      ...failing,
      ...spent(0.11),
      finalMessage: "I read the test and the function.\n\nThe sum was off by one; I changed the loop.",
      checks: [check("npm test", { passed: false })],
      scm: [{ task: "commit", passed: true, message: "nothing to commit" }],
    }),
    iteration(2, {
      ...failing,
      ...spent(0.13, { tools: 7, toolErrors: 1 }),
      durationMs: 40 * SECOND,
      agentMs: 31 * SECOND,
      finalMessage: "The loop starts at 0 now.",
      checks: [check("npm test", { passed: false })],
    }),
    iteration(3, {
      ...spent(0.18, { tools: 4 }),
      finalMessage: "Every test passes.\n\n<response>DONE</response>",
      checks: [check("npm test")],
      scm: [{ task: "commit", passed: true, message: "Fix the sum of an empty list" }],
    }),
  ],
});

const NIGHT_CHECKS = ["npm test", "cargo test --workspace --all-features -- --test-threads=2"];

function nightIteration(number: number): IterationReport {
  const startedAt = at(number * 12 * MINUTE + (number > 20 ? 9 * 60 * MINUTE : 0));
  if (number === 40) return iteration(number, { ...failing, startedAt, finished: false, durationMs: 0 });
  const error = number === 14 ? "exit code 1: API Error: 529 Overloaded" : null;
  const timedOut = number === 9;
  const checks = NIGHT_CHECKS.map((name, at) => check(name, { passed: number % 3 === at, timedOut }));
  return iteration(number, {
    ...{ ...failing, ...spent(0.2, { tools: 10 + number, toolErrors: number % 3 }), startedAt, error },
    durationMs: (number % 11) * MINUTE + 105 * SECOND,
    agentMs: (number % 11) * MINUTE,
    finalMessage: `Iteration ${number}: I moved the price rules.\n\nWhat is left:\n- the import of old orders`,
    checks: error === null ? checks : [],
  });
}

/** 40 iterations with a long pause, a failed agent and a last one that was cut off. */
export const night = report({
  agent: "codex",
  lastAt: at(1035 * MINUTE),
  status: "finished",
  reason: "interrupted",
  success: false,
  exitCode: 130,
  message: "SIGINT",
  limits: { ...LIMITS, maxIterations: 50, maxCostUsd: 60, maxTimeMs: 12 * 60 * MINUTE },
  costUsd: 47.3,
  inputTokens: 38_400_000,
  outputTokens: 912_000,
  durationMs: 441 * MINUTE,
  filesChanged: 214,
  files: Array.from({ length: 60 }, (_, index) => fileChange(index)),
  iterations: Array.from({ length: 40 }, (_, index) => nightIteration(index + 1)),
});

function fileChange(index: number): FileChange {
  const change = (["modified", "added", "deleted"] as const)[index % 3] ?? "modified";
  const lines = index % 17 === 5 ? null : index;
  return { path: `packages/cart/src/rules/rule-${index}.ts`, change, added: lines, removed: lines };
}

/** Every way out of text that we know. */
const NASTY_TEXT = [
  "<script>window.x = 1; alert(1)</script>",
  "</style><style>body { display: none }</style>",
  "</title></pre></details><h1>Owned</h1>",
  `"><img src=x onerror="window.x = 2">`,
  "' onmouseover='window.x = 3' x='",
  "<iframe src=https://example.com></iframe><link rel=stylesheet href=//example.com/x.css>",
  "\u001b[31mred\u001b[0m \u001b]8;;https://example.com\u0007link\u001b]8;;\u0007 \u0007\u0000\u0008",
  "\u202egnp.exe\u202c \u2067right to left\u2069 שלום עולם العربية",
  "\ud800 alone \udc00",
  "&amp;lt; &#60; <!-- -->",
  "🚀👩‍👩‍👧‍👦 你好，世界。这是一个很长的句子，没有空格。",
  "w".repeat(5000),
].join("\n");

/** The same shape as the nasty one, from harmless words. */
export const nasty = hostile(NASTY_TEXT);
export const tame = hostile("A few harmless words.");

function hostile(text: string): Report {
  return report({
    run: text,
    recipe: text,
    agent: text,
    workspace: text,
    reason: "error",
    success: false,
    exitCode: 1,
    message: text,
    durationMs: 2 * MINUTE,
    lastAt: at(2 * MINUTE),
    filesChanged: 1,
    files: [{ path: text, change: "added", added: 1, removed: 0 }],
    iterations: [1, 2].map((number) =>
      iteration(number, {
        mode: text,
        passed: false,
        error: text,
        reason: text,
        finalMessage: text,
        checks: [check(text, { passed: false, log: text, output: text, signal: text, exitCode: null })],
        scm: [{ task: text, passed: false, message: text }],
      }),
    ),
  });
}

const empty = report({
  reason: "error",
  success: false,
  exitCode: 1,
  message: "cannot use PROMPT.md: no such file",
});

/** Its second iteration is at work. */
const running = report({
  status: "running",
  reason: null,
  success: false,
  exitCode: null,
  lastAt: at(100 * SECOND),
  costUsd: 0.11,
  inputTokens: 12_000,
  outputTokens: 700,
  durationMs: MINUTE,
  iterations: [
    ...demo.iterations.slice(0, 1),
    iteration(2, { finished: false, passed: false, reason: "", durationMs: 0, agentMs: 0, tools: 3 }),
  ],
});

/** 100 iterations, 8 checks. */
export const long = report({
  reason: "max_iterations",
  success: false,
  exitCode: 1,
  limits: { ...LIMITS, maxIterations: 100 },
  lastAt: at(100 * MINUTE),
  durationMs: 100 * MINUTE,
  iterations: Array.from({ length: 100 }, (_, index) =>
    iteration(index + 1, {
      ...(index % 7 === 0 ? {} : failing),
      finalMessage: `Pass ${index + 1}.`,
      checks: Array.from({ length: 8 }, (_, row) =>
        check(`make check-${row + 1}`, {
          passed: index % 7 === 0 || (index + row) % 5 > 1,
          durationMs: 1200,
        }),
      ),
    }),
  ),
});

/** A plain command: it tells no cost and no tokens, and nothing is checked. */
export const bare = report({
  agent: "./agent.sh --fast",
  lastAt: at(4200),
  durationMs: 4200,
  iterations: [iteration(1, { durationMs: 4200, agentMs: 4200, finalMessage: "<response>DONE</response>" })],
});

export const SAMPLES = { demo, night, nasty, empty, running, long, bare };

function spent(costUsd: number, more: Partial<IterationReport> = {}): Partial<IterationReport> {
  return {
    costUsd,
    inputTokens: Math.round(costUsd * 110_000),
    outputTokens: Math.round(costUsd * 7000),
    tools: 5,
    ...more,
  };
}
