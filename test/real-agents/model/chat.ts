import { type Answer, type Body, type Dialect, halves, listIn, newId, USAGE } from "./dialect.js";

/** Chat Completions, as OpenCode speaks it to a provider of one's own. */
export const chat: Dialect = {
  speaks: (path) => path.endsWith("/chat/completions"),
  read(body) {
    const tools = listIn(body, "tools").map((tool) => String((tool["function"] as Body)["name"]));
    return {
      tools,
      shell: (command) => ({ name: "bash", input: { command, description: "as the script says" } }),
      streams: body["stream"] === true,
      ...(tools.length === 0 && { aside: { text: "Work" } }),
    };
  },
  pieces(answer, body) {
    const part = { id: newId("chatcmpl"), object: "chat.completion.chunk", created: 1, model: body["model"] };
    const deltas = [
      { role: "assistant", content: "" },
      ...halves(answer.text).map((content) => ({ content })),
      ...(answer.call ? [{ tool_calls: callsOf(answer) }] : []),
    ];
    const chunks = deltas.map((delta) => ({ ...part, choices: [{ index: 0, delta, finish_reason: null }] }));
    const last = { index: 0, delta: {}, finish_reason: reasonOf(answer) };
    return [...chunks, { ...part, choices: [last] }, { ...part, choices: [], usage }, "[DONE]"].map(
      (data) => ({ data }),
    );
  },
  whole(answer, body) {
    const message = { role: "assistant", content: answer.text, tool_calls: callsOf(answer) };
    const choices = [{ index: 0, message, finish_reason: reasonOf(answer) }];
    return {
      id: newId("chatcmpl"),
      object: "chat.completion",
      created: 1,
      model: body["model"],
      choices,
      usage,
    };
  },
  failure: ({ type, message, more }) => ({ error: { type, message, ...more } }),
};

const usage = {
  prompt_tokens: USAGE.input,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
  prompt_tokens_details: { cached_tokens: USAGE.cached },
};

function reasonOf({ call }: Answer): string {
  return call === undefined ? "stop" : "tool_calls";
}

function callsOf({ call }: Answer): Body[] | undefined {
  if (call === undefined) return undefined;
  const called = { name: call.name, arguments: JSON.stringify(call.input) };
  return [{ index: 0, id: newId("call"), type: "function", function: called }];
}
