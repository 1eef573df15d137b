import fc from "fast-check";
import { expect, test } from "vitest";
import type { Agent } from "../../src/agents/agent.js";
import { AGENT_NAMES, agentFor } from "../../src/agents/index.js";
import type { AgentEvent } from "../../src/events.js";

const agents: Agent[] = await Promise.all([...AGENT_NAMES, "any-command"].map(agentFor));
const agent = (name: string): Agent => agents.find((one) => one.name === name) as Agent;
const parse = (name: string, line: unknown): AgentEvent[] => agent(name).parse(JSON.stringify(line));

const blocks = (type: "assistant" | "user", content: unknown, more: object = {}) => ({
  type,
  message: { content },
  ...more,
});

const LINES: [what: string, agent: string, line: unknown, events: AgentEvent[]][] = [
  [
    "a retry of the API",
    "claude",
    {
      type: "system",
      subtype: "api_retry",
      attempt: 2,
      max_retries: 10,
      error_status: 429,
      error: "rate_limit",
    },
    [{ type: "error", message: "API retry 2/10: 429 rate_limit", status: 429 }],
  ],
  ["a subagent's prompt", "claude", blocks("user", "do it", { parent_tool_use_id: "t1" }), []],
  [
    "a to-do list of Claude",
    "claude",
    blocks("assistant", [
      {
        type: "tool_use",
        id: "t1",
        name: "TodoWrite",
        input: {
          todos: [
            { content: "Read the file", status: "completed", activeForm: "Reading" },
            { content: "Edit the code", status: "in_progress" },
            { content: "Run tests", status: "pending" },
            { content: "Rest", status: "someday" },
          ],
        },
      },
    ]),
    [
      {
        type: "todo",
        id: "t1",
        items: [
          { text: "Read the file", status: "completed" },
          { text: "Edit the code", status: "in_progress" },
          { text: "Run tests", status: "pending" },
          { text: "Rest", status: "pending" },
        ],
      },
    ],
  ],
  [
    "a tool result that is a list of blocks",
    "claude",
    blocks("user", [
      {
        type: "tool_result",
        tool_use_id: "t1",
        is_error: true,
        content: [
          { type: "text", text: "one" },
          { type: "image", source: {} },
          { type: "text", text: "two" },
        ],
      },
    ]),
    [{ type: "tool_end", id: "t1", isError: true, output: "one\n[image]\ntwo", lines: 3, chars: 15 }],
  ],
  [
    "a long tool result, of which the beginning is kept",
    "claude",
    blocks("user", [{ type: "tool_result", tool_use_id: "t1", content: "x\n".repeat(5000) }]),
    [{ type: "tool_end", id: "t1", isError: false, output: "x\n".repeat(500), lines: 5000, chars: 10_000 }],
  ],
  [
    "a block of the wrong type among good ones",
    "claude",
    blocks("assistant", ["odd", null, { text: "no type" }, { type: "text", text: "Hello." }]),
    [{ type: "text", text: "Hello." }],
  ],
  [
    "a to-do list of Codex, whose first open item is the active one",
    "codex",
    {
      type: "item.updated",
      item: {
        id: "1",
        type: "todo_list",
        items: [
          { text: "a", completed: true },
          { text: "b", completed: false },
          { text: "c", completed: false },
        ],
      },
    },
    [
      {
        type: "todo",
        items: [
          { text: "a", status: "completed" },
          { text: "b", status: "in_progress" },
          { text: "c", status: "pending" },
        ],
      },
    ],
  ],
];

test.each(LINES)("%s", (_, name, line, events) => {
  expect(parse(name, line)).toEqual(events);
});

const GARBAGE = [
  "garbage",
  "\u0000\u0000",
  '{"type":"result"}\u0000',
  '{"type":"assis',
  "null",
  "[]",
  '"text"',
  "42",
  "true",
  "{}",
  '{"type":"never heard of"}',
  '{"type":7}',
];

test.each(agents.filter(({ name }) => name !== "command"))(
  "$name: what is no event is unknown",
  ({ parse }) => {
    expect(GARBAGE.map(parse)).toEqual(GARBAGE.map((line) => [{ type: "unknown", line }]));
    expect(["", " ", "\t\r"].map(parse)).toEqual([[], [], []]);
  },
);

test("an unknown line is kept to its beginning", () => {
  expect(agent("claude").parse("x".repeat(100_000))).toEqual([{ type: "unknown", line: "x".repeat(500) }]);
});

test("input and content that are nested very deep do not throw", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const call = `{"type":"tool_use","id":"t1","name":"Odd","input":${deep}}`;
  const answer = `{"type":"tool_result","tool_use_id":"t1","content":${deep}}`;
  const kinds = (type: string, block: string) =>
    agent("claude")
      .parse(`{"type":"${type}","message":{"content":[${block}]}}`)
      .map((event) => event.type);
  expect(kinds("assistant", call)).toEqual(["tool_start"]);
  expect(kinds("user", answer)).toEqual(["tool_end"]);
});

const isEventList = (events: AgentEvent[]): boolean =>
  Array.isArray(events) && events.every(({ type }) => typeof type === "string");

test.each(agents)("$name: any string gives a list of events", ({ parse }) => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (line) => isEventList(parse(line))));
});

test.each(agents)("$name: any JSON value gives a list of events", ({ parse }) => {
  fc.assert(fc.property(fc.json(), (line) => isEventList(parse(line))));
});
