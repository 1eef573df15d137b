import { readdirSync, readFileSync } from "node:fs";
import { join, parse } from "node:path";
import { expect, test } from "vitest";
import { agentFor } from "../../src/agents/index.js";
import { type AgentReport, addEvent, emptyReport, finalMessage } from "../../src/agents/report.js";
import { spent } from "../../src/agents/spending.js";
import type { AgentEvent } from "../../src/events.js";

const FIXTURES = join(import.meta.dirname, "../fixtures");

type Outcome = ReturnType<typeof fold>;
type Kinds = Record<string, number>;

/** What a stream comes to, as the loop sees it. */
function fold(events: AgentEvent[]) {
  const report = events.reduce<AgentReport>(addEvent, emptyReport());
  const { costUsd, inputTokens, outputTokens } = spent(report);
  return {
    finalMessage: finalMessage(report),
    error: report.error ?? null,
    costUsd,
    inputTokens,
    outputTokens,
  };
}

function countKinds(events: AgentEvent[]): Kinds {
  const kinds: Kinds = {};
  for (const { type } of events) kinds[type] = (kinds[type] ?? 0) + 1;
  return kinds;
}

async function outcomeOf(agent: string, lines: unknown[]): Promise<Outcome> {
  const { parse } = await agentFor(agent);
  return fold(lines.flatMap((line) => parse(typeof line === "string" ? line : JSON.stringify(line))));
}

const said = (finalMessage: string, spent: Partial<Outcome>): Outcome => ({
  ...{ finalMessage, error: null, costUsd: null, inputTokens: 0, outputTokens: 0 },
  ...spent,
});

const recorded = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ndjson"))
  .map((path) => path.replace(/\.ndjson$/, ""))
  .sort();

test.each(recorded)("%s is read as its agent meant it", async (name) => {
  const { dir, base } = parse(join(FIXTURES, name));
  const expected = JSON.parse(readFileSync(join(dir, "expected.json"), "utf8")) as Record<string, unknown>;
  const agent = await agentFor(name.split("/")[0] as string);
  const events = readFileSync(join(FIXTURES, `${name}.ndjson`), "utf8")
    .split("\n")
    .flatMap(agent.parse);
  expect({ ...fold(events), kinds: countKinds(events) }).toEqual(expected[base]);
});

test.each(recorded)("%s holds nothing of the machine it was recorded on", (name) => {
  const text = readFileSync(join(FIXTURES, `${name}.ndjson`), "utf8");
  expect(text.match(/(\/(work|tmp|opt|root)\/|\/home\/(?!dev\/))[^"\\ ]*/g)).toBeNull();
});

// What follows was written by hand: what agents do that no recording shows.

const DONE = "<response>DONE</response>";
const init = { type: "system", subtype: "init", session_id: "s" };
const assistant = (...content: unknown[]) => ({
  type: "assistant",
  message: { role: "assistant", content },
  parent_tool_use_id: null,
});
const text = (words: string) => ({ type: "text", text: words });
const result = (words: string, costUsd: number, inputTokens: number, outputTokens: number) => ({
  type: "result",
  subtype: "success",
  is_error: false,
  result: words,
  total_cost_usd: costUsd,
  usage: { input_tokens: inputTokens, output_tokens: outputTokens },
});

test("two results of one process: the cost is cumulative, the tokens are summed, the last text is final", async () => {
  const lines = [
    init,
    assistant(text("The subagent runs.")),
    result("The subagent runs.", 0.02, 1000, 50),
    init,
    assistant(text("It has finished.")),
    result("It has finished.", 0.05, 700, 30),
  ];
  expect(await outcomeOf("claude", lines)).toEqual(
    said("It has finished.", { costUsd: 0.05, inputTokens: 1700, outputTokens: 80 }),
  );
});

test("a seed's result without subtype is a success", async () => {
  const line =
    '{"type": "result", "result": "...", "total_cost_usd": 0.05, "usage": {"input_tokens": 1000, "output_tokens": 500, "cache_read_input_tokens": 800, "cache_creation_input_tokens": 0}}';
  expect(await outcomeOf("claude", [line])).toEqual(
    said("...", { costUsd: 0.05, inputTokens: 1800, outputTokens: 500 }),
  );
});

test("partial usage of one message counts once, and what was written comes with its end", async () => {
  const usage = { input_tokens: 1000, output_tokens: 1 };
  const piece = (words: string) => ({
    type: "assistant",
    message: { id: "m1", content: [text(words)], usage },
  });
  const delta = (outputTokens: number) => ({
    type: "stream_event",
    api_message_id: "m1",
    event: { type: "message_delta", usage: { output_tokens: outputTokens } },
  });
  expect(await outcomeOf("claude", [piece("a"), piece("b"), delta(20), delta(45)])).toEqual(
    said("a\nb", { inputTokens: 1000, outputTokens: 45 }),
  );
});

test("OpenCode gives no result: tokens and cost are summed over its steps", async () => {
  const step = (id: string, cost: number, input: number, output: number) => ({
    type: "step_finish",
    part: { id, cost, tokens: { input, output, reasoning: 7, cache: { read: 200, write: 5 } } },
  });
  const lines = [
    { type: "text", part: { messageID: "m1", text: "Working." } },
    step("p1", 0.25, 800, 50),
    { type: "text", part: { messageID: "m2", text: "Done." } },
    step("p2", 0.5, 900, 60),
  ];
  expect(await outcomeOf("opencode", lines)).toEqual(
    said("Done.", { costUsd: 0.75, inputTokens: 2110, outputTokens: 124 }),
  );
});

test("Codex tells no cost, and the tokens of its turns are summed", async () => {
  const turn = {
    type: "turn.completed",
    usage: { input_tokens: 1000, cached_input_tokens: 800, output_tokens: 500 },
  };
  expect(await outcomeOf("codex", [turn, turn])).toEqual(said("", { inputTokens: 2000, outputTokens: 1000 }));
});

test("a plain command's words are all that it prints", async () => {
  expect((await outcomeOf("my-agent", ["", "thinking", "", '{"type":"result"}', DONE])).finalMessage).toBe(
    `thinking\n\n{"type":"result"}\n${DONE}`,
  );
});

test("a result survives a cost, a usage and a text of the wrong type", async () => {
  const wrong = { type: "result", subtype: "success", result: DONE, total_cost_usd: "0.05", usage: null };
  expect(await outcomeOf("claude", [wrong])).toEqual(said(DONE, {}));
  const other = {
    ...wrong,
    result: { a: 1 },
    total_cost_usd: 0.5,
    usage: { input_tokens: "7", output_tokens: 3 },
  };
  expect(await outcomeOf("claude", [other])).toEqual(said("", { costUsd: 0.5, outputTokens: 3 }));
});

const FAILURES: [agent: string, line: object, error: string][] = [
  ["codex", { type: "turn.failed" }, "the turn failed"],
  ["codex", { type: "turn.failed", error: null }, "the turn failed"],
  ["opencode", { type: "error" }, "error"],
  ["opencode", { type: "error", error: { name: "UnknownError", data: 5 } }, "UnknownError"],
  ["claude", { type: "result", subtype: "error_max_turns", errors: [5] }, "error_max_turns"],
];

test.each(FAILURES)("a failure of %s stays one, however it is told: %j", async (agent, line, error) => {
  expect((await outcomeOf(agent, [line])).error).toBe(error);
});
