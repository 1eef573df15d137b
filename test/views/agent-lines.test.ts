import { expect, test } from "vitest";
import type { AgentEvent, ToolEndEvent } from "../../src/events.js";
import { type ConsoleFormat, createConsoleFormatter } from "../../src/views/agent-lines.js";
import { formatCost, formatCount, formatStatistics } from "../../src/views/figures.js";
import { harmless } from "../../src/views/harmless.js";
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
const end = (fields: Partial<ToolEndEvent> = {}): AgentEvent => {
  const output = { output: "package main\n", lines: 45, chars: 1234 };
  return { type: "tool_end", id: "t1", isError: false, ...output, ...fields };
};
const text = (words: string, more: object = {}): AgentEvent => ({ type: "text", text: words, ...more });
const todo: AgentEvent = {
  type: "todo",
  items: [
    { text: "Read the file", status: "completed" },
    { text: "Edit the code", status: "in_progress" },
    { text: "Run tests", status: "pending" },
  ],
};
const quiet: AgentEvent[] = [
  { type: "progress", message: "session s1" },
  { type: "progress", message: "" },
  { type: "unknown", line: "?" },
  { type: "result", text: "done" },
];
const long = "x".repeat(100);
const CALL = "⏺ Read(/path/to/file.go)";

test.each<[string, AgentEvent[], Partial<ConsoleFormat>, string[]]>([
  [
    "a call and its result as in the seed",
    [start, end()],
    {},
    [CALL, "✅ Result ← Read (45 lines, 1234 chars)", "  ⎿  package main"],
  ],
  [
    "calls and output cut at the width of the terminal",
    [{ ...start, input: long } as AgentEvent, end({ output: `${long}\n` })],
    { terminal: { columns: 40, layout } },
    [`⏺ Read(${"x".repeat(31)}…)`, "✅ Result ← Read (45 lines, 1234 chars)", `  ⎿  ${"x".repeat(34)}…`],
  ],
  [
    "a to-do list as in the seed",
    [todo],
    {},
    [
      "📋 Todo List",
      "  ✅ Read the file",
      "  🔄 Edit the code ← ACTIVE",
      "  ⏸️ Run tests",
      "  📊 Progress: 1/3 (33%)",
    ],
  ],
  [
    "text markers without emoji",
    [start, end({ isError: true }), todo, { type: "error", message: "API retry 1/10: 429 rate_limit" }],
    { useEmoji: false },
    [
      "* Read(/path/to/file.go)",
      "[ERR] Error <- Read (45 lines, 1234 chars)",
      "  |  package main",
      "[TODO] Todo List",
      "  [OK] Read the file",
      "  [>] Edit the code <- ACTIVE",
      "  [ ] Run tests",
      "  [..] Progress: 1/3 (33%)",
      "[WARN] API retry 1/10: 429 rate_limit",
    ],
  ],
  [
    "colours, whatever this process writes to",
    [start, end()],
    { useColor: true },
    [
      "\u001b[36m⏺\u001b[39m \u001b[1mRead\u001b[22m(/path/to/file.go)",
      "\u001b[32m✅ Result\u001b[39m ← Read \u001b[2m(45 lines, 1234 chars)\u001b[22m",
      "\u001b[2m  ⎿  package main\u001b[22m",
    ],
  ],
  [
    "so many lines of output",
    [end({ output: "1\n2\n3\n4\n5\n", lines: 5, chars: 10 })],
    {},
    ["✅ Result ← tool (5 lines, 10 chars)", "  ⎿  1", "     2", "     3"],
  ],
  ["text line by line", [text("one\n\ntwo\n\n"), text(" \n"), text("")], {}, ["one", "", "two"]],
  [
    "pieces of a message as one text",
    [...["All fin", "ished.\nNow ", "the tests."].map((piece) => text(piece, { delta: true })), start],
    {},
    ["All finished.", "Now the tests.", CALL],
  ],
  [
    "a usage limit only when it is reached",
    [
      { type: "rate_limit", status: "allowed" },
      { type: "rate_limit", status: "rejected" },
    ],
    {},
    ["⚠️ Usage limit: rejected"],
  ],
  ["no sessions and thoughts", quiet, {}, []],
  ["sessions and thoughts when asked for", quiet, { showProgress: true }, ["session s1", "?"]],
])("the console shows %s", (_, events, options, lines) => {
  expect(show(events, options)).toEqual(lines);
});

test("a timestamp stands before a line when it is asked for", () => {
  const stamp = (showTimestamp: boolean) =>
    createConsoleFormatter({ ...PLAIN, showTimestamp }).stamp("line", "2026-11-15T08:09:10");
  expect([stamp(false), stamp(true)]).toEqual(["line", "[08:09:10] line"]);
});

const EVIL = "\u001b[2J\u001b]0;title\u0007a\u0008\u009b31mb\rc\u0000";

test.each<[what: string, event: AgentEvent]>([
  ["text", text(EVIL)],
  ["the input of a tool", { type: "tool_start", id: "t1", name: "Bash", input: EVIL }],
  ["the name of a tool", { type: "tool_start", id: "t1", name: EVIL, input: "" }],
  ["the output of a tool", end({ output: EVIL })],
  ["a to-do item", { type: "todo", items: [{ text: EVIL, status: "pending" }] }],
  ["an error", { type: "error", message: EVIL }],
  ["a usage limit", { type: "rate_limit", status: EVIL }],
  ["progress", { type: "progress", message: EVIL }],
  ["an unknown line", { type: "unknown", line: EVIL }],
])("%s cannot steer the terminal", (_, event) => {
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

test("figures look as in the seed, and what nobody told is left out", () => {
  const all = { costUsd: 5.76, inputTokens: 1_200_000, cacheReadTokens: 850_000, outputTokens: 45_000 };
  const none = { costUsd: null, inputTokens: 0, outputTokens: 0, tools: 0, errors: 0, durationMs: 1200 };
  expect([
    formatStatistics({ ...all, tools: 58, errors: 4, durationMs: 367_000 }),
    formatStatistics(none),
    [0, 999, 1000, 1234, 99_949, 850_000, 999_499, 999_500, 123_456_789].map(formatCount).join(" "),
    [0, 0.0012, 0.00999, 0.01, 0.054, 1234.5].map((usd) => formatCost(usd)).join(" "),
  ]).toEqual([
    "cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 58, errors: 4, time: 6m7s",
    "tools: 0, errors: 0, time: 1.2s",
    "0 999 1K 1.2K 99.9K 850K 999K 1M 123M",
    "$0.00 $0.0012 $0.0100 $0.01 $0.05 $1234.50",
  ]);
});
