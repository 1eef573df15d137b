import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

const FINISHED = "All finished.\n<response>DONE</response>\n<promise>COMPLETE</promise>";
/** Codex warns about a model that it does not know. */
const METADATA_MISSING = 1;

const nothing: Outcome = { finalMessage: "", error: null, costUsd: null, inputTokens: 0, outputTokens: 0 };
const said = (finalMessage: string, spent: Partial<Outcome>): Outcome => ({
  ...nothing,
  finalMessage,
  ...spent,
});
const failed = (error: string, more: Partial<Outcome> = {}): Outcome => ({ ...nothing, error, ...more });

const PROMPT_TOO_LONG =
  "Prompt is too long · the request is ~250000 tokens (limit 200000) but this conversation is only ~2615 tokens — the rest is system prompt, tool definitions, and attachment content. A single-exchange conversation cannot be compacted; reduce attached files/tools or start with less context.";
const RATE_LIMITED = "API Error: Request rejected (429) · Rate limit reached";
const SERVER_ERROR =
  "API Error: 500 boom. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:18080).";
const CONTEXT_LIMIT =
  "Context Limit Reached This conversation has reached the context window limit. Start a new thread or use Handoff to continue with relevant context.";
const CODEX_TOO_LONG =
  '{"error":{"type":"invalid_request_error","code":null,"message":"prompt is too long: 250000 tokens > 200000 maximum"}}';
const GEMINI_TOO_LONG =
  '[API Error: {"error":{"code":400,"status":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}]';

/** What one turn with a tool and one without come to. */
const ONE_TOOL = { progress: 4, text: 2, tool_start: 1, tool_end: 1, result: 1 };
const CODEX_TALK = { progress: 2, error: METADATA_MISSING, text: 2, result: 1 };
const CODEX_TOOL = { ...CODEX_TALK, tool_start: 1, tool_end: 1 };
const CODEX_FAILURE = { progress: 2, error: METADATA_MISSING + 1, result: 1 };
const CODEX_TOKENS = { inputTokens: 2000, outputTokens: 100 };

const FIVE_HOUR = "You've hit your 5-hour limit · resets 6:58pm (UTC)";
const CODEX_LIMIT =
  "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 8:15 PM.";

const STREAMS: Record<string, [outcome: Outcome, kinds: Kinds]> = {
  "amp/2026-01/basic": [said(FINISHED, { inputTokens: 2600, outputTokens: 100 }), ONE_TOOL],
  "amp/2026-03/basic": [said(FINISHED, { inputTokens: 2600, outputTokens: 100 }), ONE_TOOL],
  "amp/2026-03/e400": [failed(CONTEXT_LIMIT), { progress: 2, result: 1 }],
  "amp/2026-03/e500": [
    failed('500 {"type":"error","error":{"type":"api_error","message":"boom"}}'),
    { progress: 2, result: 1 },
  ],
  "amp/2026-03/needs-approval": [
    failed("The following tools require user approval, which is not supported in stream JSON mode: Bash", {
      inputTokens: 1300,
      outputTokens: 50,
    }),
    { progress: 3, text: 1, tool_start: 1, result: 1 },
  ],
  "claude/2.1.197/basic": [
    said(FINISHED, { costUsd: 0.01395, inputTokens: 2600, outputTokens: 100 }),
    ONE_TOOL,
  ],
  "claude/2.1.197/hooks-cmd-deny": [
    said("<response>DONE</response>", { costUsd: 0.034875, inputTokens: 6500, outputTokens: 250 }),
    { progress: 11, text: 5, tool_start: 2, tool_end: 2, result: 1 },
  ],
  "claude/2.1.197/hooks-cmd-stop": [
    said("iter3 end <promise>COMPLETE</promise>", { costUsd: 0.0279, inputTokens: 5200, outputTokens: 200 }),
    { progress: 9, text: 4, tool_start: 1, tool_end: 1, result: 1 },
  ],
  "claude/2.1.197/hooks-http": [
    said("<response>DONE</response>", { costUsd: 0.034875, inputTokens: 6500, outputTokens: 250 }),
    { progress: 11, text: 5, tool_start: 2, tool_end: 2, result: 1 },
  ],
  "claude/2.1.197/plugin": [
    said("iter1 end <response>CONTINUE</response>", {
      costUsd: 0.01395,
      inputTokens: 2600,
      outputTokens: 100,
    }),
    ONE_TOOL,
  ],
  "claude/2.1.197/rich": [
    said("<promise>COMPLETE</promise>", { costUsd: 0.034875, inputTokens: 5200, outputTokens: 200 }),
    { progress: 8, text: 3, tool_start: 3, tool_end: 3, result: 1 },
  ],
  "claude/2.1.325/acceptedits-denied": [
    said("end", { costUsd: 0.01108, inputTokens: 2600, outputTokens: 100 }),
    ONE_TOOL,
  ],
  "claude/2.1.325/basic": [
    said(FINISHED, { costUsd: 0.01108, inputTokens: 2600, outputTokens: 100 }),
    ONE_TOOL,
  ],
  "claude/2.1.325/e400": [
    failed(PROMPT_TOO_LONG, { finalMessage: PROMPT_TOO_LONG, costUsd: 0 }),
    { progress: 2, text: 1, result: 1 },
  ],
  "claude/2.1.325/e429": [nothing, { progress: 1, error: 6 }],
  "claude/2.1.325/e429-noretry": [
    failed(RATE_LIMITED, { finalMessage: RATE_LIMITED, costUsd: 0 }),
    { progress: 2, text: 1, result: 1 },
  ],
  "claude/2.1.325/e500": [nothing, { progress: 1, error: 6 }],
  "claude/2.1.325/e500-noretry": [
    failed(SERVER_ERROR, { finalMessage: SERVER_ERROR, costUsd: 0 }),
    { progress: 2, text: 1, result: 1 },
  ],
  "claude/2.1.325/hook-dead": [
    said(FINISHED, { costUsd: 0.01108, inputTokens: 2600, outputTokens: 100 }),
    { progress: 6, text: 2, tool_start: 1, tool_end: 1, result: 1 },
  ],
  "claude/2.1.325/hooks-cmd-deny": [
    said("<response>DONE</response>", { costUsd: 0.0277, inputTokens: 6500, outputTokens: 250 }),
    { progress: 11, text: 5, tool_start: 2, tool_end: 2, result: 1 },
  ],
  "claude/2.1.325/hooks-cmd-stop": [
    said("iter3 end <promise>COMPLETE</promise>", { costUsd: 0.02216, inputTokens: 5200, outputTokens: 200 }),
    { progress: 9, text: 4, tool_start: 1, tool_end: 1, result: 1 },
  ],
  "claude/2.1.325/hooks-http": [
    said("<response>DONE</response>", { costUsd: 0.0277, inputTokens: 6500, outputTokens: 250 }),
    { progress: 11, text: 5, tool_start: 2, tool_end: 2, result: 1 },
  ],
  // The result reports no tokens, so those told along the way count; what was written is not among them.
  "claude/2.1.325/maxbudget": [
    failed("Reached maximum budget ($0.0001)", { costUsd: 0.00554, inputTokens: 1300 }),
    { progress: 4, text: 1, tool_start: 1, result: 1 },
  ],
  "claude/2.1.325/maxbudget-endturn": [
    failed("Reached maximum budget ($0.0001)", {
      finalMessage: "nothing",
      costUsd: 0.00554,
      inputTokens: 1300,
    }),
    { progress: 2, text: 1, result: 1 },
  ],
  "claude/2.1.325/limit": [
    failed(FIVE_HOUR, { finalMessage: FIVE_HOUR, costUsd: 0 }),
    { progress: 2, rate_limit: 1, text: 1, result: 1 },
  ],
  "claude/2.1.325/limit-later": [
    failed(FIVE_HOUR, { finalMessage: FIVE_HOUR, costUsd: 0.00277, inputTokens: 1300, outputTokens: 50 }),
    { progress: 4, rate_limit: 2, text: 2, tool_start: 1, tool_end: 1, result: 1 },
  ],
  "claude/2.1.325/maxturns": [
    failed("Reached maximum number of turns (2)", { costUsd: 0.01108, inputTokens: 2600, outputTokens: 100 }),
    { progress: 3, tool_start: 2, tool_end: 2, result: 1 },
  ],
  "claude/2.1.325/partial": [
    said("All done. <promise>COMPLETE</promise>", { costUsd: 0.01108, inputTokens: 2600, outputTokens: 100 }),
    { progress: 9, text: 2, tool_start: 1, tool_end: 1, result: 1 },
  ],
  "claude/2.1.325/plugin": [
    said("iter1 end <response>CONTINUE</response>", {
      costUsd: 0.01108,
      inputTokens: 2600,
      outputTokens: 100,
    }),
    ONE_TOOL,
  ],
  "claude/2.1.325/stop-always": [
    said("", { costUsd: 0.04986, inputTokens: 11700, outputTokens: 450 }),
    { progress: 22, text: 9, result: 1 },
  ],
  "codex/0.166/approve-for-me": [said(FINISHED, CODEX_TOKENS), CODEX_TALK],
  "codex/0.166/basic": [said(FINISHED, CODEX_TOKENS), CODEX_TOOL],
  "codex/0.166/cut": [failed("stream disconnected before completion: error sending request"), CODEX_FAILURE],
  "codex/0.166/e400": [failed(CODEX_TOO_LONG), CODEX_FAILURE],
  "codex/0.166/e429": [failed("exceeded retry limit, last status: 429 Too Many Requests"), CODEX_FAILURE],
  "codex/0.166/limit": [failed(CODEX_LIMIT), { ...CODEX_FAILURE, error: 1 }],
  "codex/0.166/e500": [
    failed("We’re currently experiencing high demand, which may cause temporary errors."),
    CODEX_FAILURE,
  ],
  "codex/0.166/hooks-untrusted": [said("iter1 end <response>CONTINUE</response>", CODEX_TOKENS), CODEX_TOOL],
  "codex/0.166/rich": [
    said("<response>DONE</response>", { inputTokens: 4000, outputTokens: 200 }),
    { progress: 3, error: METADATA_MISSING, text: 3, tool_start: 2, tool_end: 2, result: 1 },
  ],
  "codex/0.166/sandbox-read-only": [said(FINISHED, CODEX_TOKENS), CODEX_TALK],
  "codex/0.166/sandbox-workspace-write": [said(FINISHED, CODEX_TOKENS), CODEX_TOOL],
  "gemini/0.61/basic": [
    said(FINISHED, { inputTokens: 3000, outputTokens: 150 }),
    { progress: 2, text: 2, tool_start: 1, tool_end: 1, result: 1 },
  ],
  "gemini/0.61/e400": [failed(GEMINI_TOO_LONG), { progress: 2, result: 1 }],
  "gemini/0.61/e404": [failed("[API Error: scripted 404]"), { progress: 2, result: 1 }],
  "gemini/0.61/e429": [nothing, { progress: 2 }],
  "opencode/1.18/ask-rejected": [
    said("", { costUsd: 0, inputTokens: 1000, outputTokens: 50 }),
    { progress: 2, text: 1, tool_start: 1, tool_end: 1 },
  ],
  "opencode/1.18/badmodel": [
    failed("Unexpected server error. Check server logs for details."),
    { result: 1 },
  ],
  "opencode/1.18/basic": [
    said(FINISHED, { costUsd: 0, inputTokens: 2000, outputTokens: 100 }),
    { progress: 4, text: 2, tool_start: 1, tool_end: 1 },
  ],
  // OpenCode compacts after this error and goes on; an error in the stream is a failure all the same.
  "opencode/1.18/e400": [
    failed("prompt is too long: 250000 tokens > 200000 maximum", {
      finalMessage: FINISHED,
      costUsd: 0,
      inputTokens: 2000,
      outputTokens: 100,
    }),
    { progress: 5, text: 2, result: 1 },
  ],
  "opencode/1.18/e400-apierror": [failed("bad parameter foo"), { result: 1 }],
  "opencode/1.18/e401": [failed("scripted 401"), { result: 1 }],
};

const recorded = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ndjson"))
  .map((path) => path.replace(/\.ndjson$/, ""))
  .sort();

test("every recorded stream has its expectation", () => {
  expect(recorded).toEqual(Object.keys(STREAMS).sort());
});

test.each(Object.entries(STREAMS))("%s is read as its agent meant it", async (name, [outcome, kinds]) => {
  const { parse } = await agentFor(name.split("/")[0] as string);
  const lines = readFileSync(join(FIXTURES, `${name}.ndjson`), "utf8").split("\n");
  const events = lines.flatMap(parse);
  expect({ ...fold(events), kinds: countKinds(events) }).toEqual({ ...outcome, kinds });
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

test("a result is recognised wherever its type stands", async () => {
  const line =
    '{"total_cost_usd":0.5,"usage":{"input_tokens":7},"result":"ok","is_error":false,"type":"result"}';
  expect(await outcomeOf("claude", [line])).toEqual(said("ok", { costUsd: 0.5, inputTokens: 7 }));
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

test("the usage in a result of Amp replaces what its messages told", async () => {
  const usage = { input_tokens: 100, output_tokens: 50, cache_read_input_tokens: 80 };
  const lines = [
    { type: "assistant", message: { content: [text("hi")], usage } },
    { type: "result", subtype: "success", result: "hi", usage },
  ];
  expect(await outcomeOf("amp", lines)).toEqual(said("hi", { inputTokens: 180, outputTokens: 50 }));
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
  ["codex", { type: "turn.failed", error: { message: 5 } }, "the turn failed"],
  ["opencode", { type: "error" }, "error"],
  ["opencode", { type: "error", error: null }, "error"],
  ["opencode", { type: "error", error: { name: "UnknownError", data: 5 } }, "UnknownError"],
  ["gemini", { type: "result", status: "error", error: 5 }, "error"],
  ["amp", { type: "result", subtype: "error_during_execution", error: 5 }, "error_during_execution"],
  ["claude", { type: "result", subtype: "error_max_turns", errors: [5] }, "error_max_turns"],
  ["claude", { type: "result", is_error: true }, "error"],
];

test.each(FAILURES)("a failure of %s stays one, however it is told: %j", async (agent, line, error) => {
  expect((await outcomeOf(agent, [line])).error).toBe(error);
});
