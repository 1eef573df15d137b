import { expect, test } from "vitest";
import { type AgentReport, addEvent, emptyReport, finalMessage } from "../../src/agents/report.js";
import { charged, spent } from "../../src/agents/spending.js";
import type { AgentEvent, LiveUsage, TextEvent, TokenUsage } from "../../src/events.js";

const reportOf = (...events: AgentEvent[]): AgentReport => events.reduce(addEvent, emptyReport());
const text = (words: string, more: Partial<TextEvent> = {}): AgentEvent => ({
  type: "text",
  text: words,
  ...more,
});
const tokens = (inputTokens: number, outputTokens: number): TokenUsage => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: inputTokens * 2,
  cacheWriteTokens: outputTokens * 3,
});
const told = (usage: LiveUsage): AgentEvent => ({ type: "progress", message: "", usage });
const toolEnd: AgentEvent = { type: "tool_end", id: "t", isError: false, output: "", lines: 0, chars: 0 };

test("nothing heard is no message, no answer and nothing spent", () => {
  const report = emptyReport();
  expect({ message: finalMessage(report), answered: report.answered, ended: report.ended }).toEqual({
    message: "",
    answered: false,
    ended: false,
  });
  expect(spent(report)).toEqual({
    costUsd: null,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  });
});

const MESSAGES: [what: string, events: AgentEvent[], message: string][] = [
  ["texts are lines", [text("a"), text("b")], "a\nb"],
  ["pieces continue the text before them", [text("a", { delta: true }), text("b", { delta: true })], "ab"],
  ["an empty text between two is an empty line", [text("a"), text(""), text("b")], "a\n\nb"],
  [
    "parts of one message belong together",
    [text("a", { message: "1" }), text("b", { message: "1" })],
    "a\nb",
  ],
  [
    "another message replaces the one before",
    [text("a", { message: "1" }), text("b", { message: "2" })],
    "b",
  ],
  ["a tool call ends what was said", [text("a"), { type: "tool_start", id: "t", name: "n", input: "" }], ""],
  ["a tool result ends what was said", [text("a"), toolEnd], ""],
  ["a new turn ends what was said", [text("a"), { type: "progress", message: "", newTurn: true }], ""],
  ["progress ends nothing", [text("a"), { type: "progress", message: "" }, text("b")], "a\nb"],
  ["a subagent changes nothing", [text("a"), text("DONE", { subagent: true })], "a"],
  ["a result's text is the message", [text("a"), { type: "result", text: "b" }], "b"],
  ["a result without text leaves what was said", [text("a"), { type: "result" }], "a"],
];

test.each(MESSAGES)("%s", (_, events, message) => {
  expect(finalMessage(reportOf(...events))).toBe(message);
});

const ANSWERS: [what: string, events: AgentEvent[], answered: boolean][] = [
  ["words", [text("a")], true],
  ["blanks", [text(" \n")], false],
  ["a tool", [toolEnd], true],
  ["a result with words", [{ type: "result", text: "a" }], true],
  ["a result without words", [{ type: "result", text: "" }], false],
  ["trouble", [{ type: "error", message: "x" }], false],
];

test.each(ANSWERS)("whether %s are an answer", (_, events, answered) => {
  expect(reportOf(...events).answered).toBe(answered);
});

test("a result ends the answer, until the agent speaks or works again", () => {
  const result: AgentEvent = { type: "result", usage: tokens(1, 1) };
  expect([reportOf(result), reportOf(result, text("more"))].map(({ ended }) => ended)).toEqual([true, false]);
});

test("tokens of results are summed and their cost is the last one", () => {
  const first: AgentEvent = { type: "result", usage: tokens(10, 1), costUsd: 1 };
  expect(spent(reportOf(first, { type: "result", usage: tokens(20, 2), costUsd: 3 }))).toEqual({
    ...tokens(30, 3),
    costUsd: 3,
  });
});

test("what was told along the way counts until a result tells it better", () => {
  const live = told({ ...tokens(5, 5), costUsd: 0.5 });
  expect(spent(reportOf(live, live))).toEqual({ ...tokens(10, 10), costUsd: 1 });
  expect(spent(reportOf(live, live, { type: "result", usage: tokens(7, 7), costUsd: 2 }))).toEqual({
    ...tokens(7, 7),
    costUsd: 2,
  });
});

test("a result without cost and tokens leaves the tokens told along the way to the estimate", () => {
  const report = reportOf(told(tokens(5, 5)), { type: "result", usage: tokens(0, 0), costUsd: 0 });
  expect(charged(report, { allowanceUsd: null, pricePerToken: 0.5 })).toEqual({
    ...tokens(5, 5),
    costUsd: 5,
    costEstimated: true,
  });
});

test("reports of one call replace each other, those of many calls are summed", () => {
  const calls = Array.from({ length: 100 }, (_, call) =>
    [1, 2].map((part) => told({ ...tokens(part, part), costUsd: part, key: `call ${call}` })),
  ).flat();
  const report = reportOf(...calls);
  expect(spent(report)).toEqual({ ...tokens(200, 200), costUsd: 200 });
  expect(Object.keys(report.live).length).toBeLessThanOrEqual(16);
});

test("220 MB of small pieces stay bounded, and the end is kept", () => {
  const report = emptyReport();
  const piece: AgentEvent = { type: "text", text: `${"x".repeat(219)}\n`, delta: true };
  for (let count = 0; count < 1_000_000; count += 1) addEvent(report, piece);
  addEvent(report, text("<response>DONE</response>", { delta: true }));
  const message = finalMessage(report);
  expect(message.length).toBeGreaterThan(64 * 1024 - 1);
  expect(message.length).toBeLessThanOrEqual(128 * 1024);
  expect(message.slice(-245)).toBe(`${"x".repeat(219)}\n<response>DONE</response>`);
});

test("a step is a tool that was used", () => {
  const start: AgentEvent = { type: "tool_start", id: "t", name: "Bash", input: "ls" };
  expect(reportOf(text("a"), start, toolEnd, start, toolEnd, text("b")).steps).toBe(2);
  expect(reportOf(text("a")).steps).toBe(0);
});
