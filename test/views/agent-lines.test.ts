import { expect, test } from "vitest";
import type { AgentEvent, ToolEndEvent } from "../../src/events.js";
import { type ConsoleFormat, createConsoleFormatter } from "../../src/views/agent-lines.js";
import { formatCost, formatCount, formatStatistics } from "../../src/views/figures.js";
import { firstLine, harmless } from "../../src/views/harmless.js";
import * as layout from "../../src/views/layout.js";

const PLAIN: ConsoleFormat = {
  useEmoji: true,
  useColor: false,
  showTimestamp: false,
  maxOutputLines: 3,
  maxOutputChars: 200,
  showProgress: false,
};

const show = (events: AgentEvent[], options: Partial<ConsoleFormat> = {}): string[] =>
  events.flatMap(createConsoleFormatter({ ...PLAIN, ...options }).event);

const start: AgentEvent = { type: "tool_start", id: "t1", name: "Read", input: "/path/to/file.go" };
const end = (fields: Partial<ToolEndEvent> = {}): AgentEvent => ({
  type: "tool_end",
  id: "t1",
  isError: false,
  output: "package main\n",
  lines: 45,
  chars: 1234,
  ...fields,
});
const todo: AgentEvent = {
  type: "todo",
  items: [
    { text: "Read the file", status: "completed" },
    { text: "Edit the code", status: "in_progress" },
    { text: "Run tests", status: "pending" },
  ],
};
const text = (words: string, more: object = {}): AgentEvent => ({ type: "text", text: words, ...more });

test("a tool call and its result look as in the seed", () => {
  expect(show([start, end()])).toEqual([
    "⏺ Read(/path/to/file.go)",
    "✅ Result ← Read (45 lines, 1234 chars)",
    "  ⎿  package main",
  ]);
});

test("calls and output of tools are cut at the width of the terminal", () => {
  const long = "x".repeat(100);
  const lines = show([{ ...start, input: long } as AgentEvent, end({ output: `${long}\n` })], {
    terminal: { columns: 40, layout },
  });
  expect(lines).toEqual([
    `⏺ Read(${"x".repeat(31)}…)`,
    "✅ Result ← Read (45 lines, 1234 chars)",
    `  ⎿  ${"x".repeat(34)}…`,
  ]);
  expect([lines[0]?.length, lines[2]?.length]).toEqual([40, 40]);
});

test("a to-do list looks as in the seed", () => {
  expect(show([todo])).toEqual([
    "📋 Todo List",
    "  ✅ Read the file",
    "  🔄 Edit the code ← ACTIVE",
    "  ⏸️ Run tests",
    "  📊 Progress: 1/3 (33%)",
  ]);
});

test("the statistics look as in the seed", () => {
  const statistics = {
    costUsd: 5.76,
    inputTokens: 1_200_000,
    cacheReadTokens: 850_000,
    outputTokens: 45_000,
    tools: 58,
    errors: 4,
    durationMs: 367_000,
  };
  expect(formatStatistics(statistics)).toBe(
    "cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 58, errors: 4, time: 6m7s",
  );
});

test("statistics that nobody told are left out", () => {
  const none = { costUsd: null, inputTokens: 0, outputTokens: 0, durationMs: 1200 };
  expect(formatStatistics(none)).toBe("time: 1.2s");
  expect(formatStatistics({ ...none, costUsd: 0, inputTokens: 950, tools: 0, errors: 0 })).toBe(
    "cost: $0.00, tokens: 950 in / 0 out, tools: 0, errors: 0, time: 1.2s",
  );
});

test("without emoji there are text markers", () => {
  const trouble: AgentEvent = { type: "error", message: "API retry 1/10: 429 rate_limit" };
  expect(show([start, end(), start, end({ isError: true }), todo, trouble], { useEmoji: false })).toEqual([
    "* Read(/path/to/file.go)",
    "[OK] Result <- Read (45 lines, 1234 chars)",
    "  |  package main",
    "* Read(/path/to/file.go)",
    "[ERR] Error <- Read (45 lines, 1234 chars)",
    "  |  package main",
    "[TODO] Todo List",
    "  [OK] Read the file",
    "  [>] Edit the code <- ACTIVE",
    "  [ ] Run tests",
    "  [..] Progress: 1/3 (33%)",
    "[WARN] API retry 1/10: 429 rate_limit",
  ]);
});

test("without emoji every line is plain ASCII", () => {
  const lines = show([start, end(), todo, { type: "error", message: "x" }], { useEmoji: false });
  expect(lines.join("")).toMatch(/^[\u0020-\u007e]*$/);
});

test("with colours the marks are painted, whatever this process writes to", () => {
  expect(show([start, end(), end({ isError: true })], { useColor: true })).toEqual([
    "\u001b[36m⏺\u001b[39m \u001b[1mRead\u001b[22m(/path/to/file.go)",
    "\u001b[32m✅ Result\u001b[39m ← Read \u001b[2m(45 lines, 1234 chars)\u001b[22m",
    "\u001b[2m  ⎿  package main\u001b[22m",
    "\u001b[31m❌ Error\u001b[39m ← tool \u001b[2m(45 lines, 1234 chars)\u001b[22m",
    "\u001b[2m  ⎿  package main\u001b[22m",
  ]);
});

test("a timestamp stands before a line when it is asked for", () => {
  const stamp = (options: Partial<ConsoleFormat>) =>
    createConsoleFormatter({ ...PLAIN, ...options }).stamp("line", "2026-11-15T08:09:10");
  expect(stamp({})).toBe("line");
  expect(stamp({ showTimestamp: true })).toBe("[08:09:10] line");
});

test("output is cut after so many lines", () => {
  expect(show([end({ output: "1\n2\n3\n4\n5\n", lines: 5, chars: 10 })])).toEqual([
    "✅ Result ← tool (5 lines, 10 chars)",
    "  ⎿  1",
    "     2",
    "     3",
  ]);
});

test("output is cut after so many characters", () => {
  expect(show([end({ output: "abcdefgh", lines: 1, chars: 8 })], { maxOutputChars: 5 })).toEqual([
    "✅ Result ← tool (1 line, 8 chars)",
    "  ⎿  abcde",
  ]);
});

test("no output is no line", () => {
  expect(show([end({ output: "", lines: 0, chars: 0 })])).toEqual(["✅ Result ← tool (0 lines, 0 chars)"]);
  expect(show([end({ output: "\n \n", lines: 2, chars: 3 })])).toEqual([
    "✅ Result ← tool (2 lines, 3 chars)",
  ]);
});

test("results are told apart by their calls", () => {
  const other: AgentEvent = { type: "tool_start", id: "t2", name: "Bash", input: "ls" };
  const lines = show([start, other, end({ id: "t2", output: "" }), end({ output: "" })]);
  expect(lines).toEqual([
    "⏺ Read(/path/to/file.go)",
    "⏺ Bash(ls)",
    "✅ Result ← Bash (45 lines, 1234 chars)",
    "✅ Result ← Read (45 lines, 1234 chars)",
  ]);
});

test("text is shown line by line, blank text is not", () => {
  expect(show([text("one\n\ntwo\n\n"), text(" \n"), text("")])).toEqual(["one", "", "two"]);
});

test("pieces of a message are one text", () => {
  const pieces = ["All fin", "ished.\nNow ", "the tests."].map((piece) => text(piece, { delta: true }));
  expect(show([...pieces, start])).toEqual(["All finished.", "Now the tests.", "⏺ Read(/path/to/file.go)"]);
});

test("an empty to-do list is 0 of 0", () => {
  expect(show([{ type: "todo", items: [] }])).toEqual(["📋 Todo List", "  📊 Progress: 0/0 (0%)"]);
});

test("only a usage limit that is reached is shown", () => {
  expect(
    show([
      { type: "rate_limit", status: "allowed" },
      { type: "rate_limit", status: "rejected", resetsAt: 1794729600 },
    ]),
  ).toEqual(["⚠️ Usage limit: rejected"]);
});

test("sessions, thoughts and unknown lines are shown only when asked for", () => {
  const events: AgentEvent[] = [
    { type: "progress", message: "session s1" },
    { type: "progress", message: "" },
    { type: "unknown", line: "?" },
    { type: "result", text: "done" },
  ];
  expect(show(events)).toEqual([]);
  expect(show(events, { showProgress: true })).toEqual(["session s1", "?"]);
});

const EVIL = "\u001b[2J\u001b]0;title\u0007a\u0008\u009b31mb\rc\u0000";

const EVIL_EVENTS: [what: string, event: AgentEvent][] = [
  ["text", text(EVIL)],
  ["the input of a tool", { type: "tool_start", id: "t1", name: "Bash", input: EVIL }],
  ["the name of a tool", { type: "tool_start", id: "t1", name: EVIL, input: "" }],
  ["the output of a tool", end({ output: EVIL })],
  ["a to-do item", { type: "todo", items: [{ text: EVIL, status: "pending" }] }],
  ["an error", { type: "error", message: EVIL }],
  ["a usage limit", { type: "rate_limit", status: EVIL }],
  ["progress", { type: "progress", message: EVIL }],
  ["an unknown line", { type: "unknown", line: EVIL }],
];

test.each(EVIL_EVENTS)("%s cannot steer the terminal", (_, event) => {
  const shown = show([event, end({ output: "" })], { showProgress: true }).join("\n");
  expect(shown).toContain("abc");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(shown.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g)).toBeNull();
});

test("what an agent says keeps its tabs, lines and letters", () => {
  expect(harmless("\u001b[31mred\u001b[0m\tü 😀\nnext\u001b]8;;http://x\u0007link\u001b]8;;\u0007")).toBe(
    "red\tü 😀\nnextlink",
  );
});

const COUNTS: [count: number, text: string][] = [
  [0, "0"],
  [950, "950"],
  [999, "999"],
  [1000, "1K"],
  [1234, "1.2K"],
  [45_000, "45K"],
  [99_949, "99.9K"],
  [850_000, "850K"],
  [999_499, "999K"],
  [999_500, "1M"],
  [1_200_000, "1.2M"],
  [123_456_789, "123M"],
];

test.each(COUNTS)("%i tokens are %s", (count, formatted) => {
  expect(formatCount(count)).toBe(formatted);
});

const COSTS: [usd: number, text: string][] = [
  [0, "$0.00"],
  [0.0012, "$0.0012"],
  [0.00999, "$0.0100"],
  [0.01, "$0.01"],
  [0.054, "$0.05"],
  [5.76, "$5.76"],
  [1234.5, "$1234.50"],
];

test.each(COSTS)("%d dollars are %s", (usd, formatted) => {
  expect(formatCost(usd)).toBe(formatted);
});

test("a first line is all of a single one", () => {
  expect(["", "one", "one\ntwo", "\ntwo"].map(firstLine)).toEqual(["", "one", "one", ""]);
});
