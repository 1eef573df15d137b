import { type Answer, type Body, type Dialect, halves, listIn, newId, USAGE } from "./dialect.js";

/** The Messages API, as Claude Code and Amp speak it. */
export const anthropic: Dialect = {
  speaks: (path) => path.endsWith("/v1/messages"),
  read(body) {
    const offered = listIn(body, "tools");
    const tools = offered.map(({ name }) => String(name));
    const title = tools.includes("set_title") ? { name: "set_title", input: { title: "Work" } } : undefined;
    const isAside = title !== undefined || !tools.includes("Bash");
    const words = wordsOfShell(offered);
    return {
      tools,
      shell: (command) => ({ name: "Bash", input: { [words]: command, description: "as the script says" } }),
      streams: body["stream"] === true,
      ...(isAside && { aside: { text: '{"title":"Work"}', call: title } }),
    };
  },
  pieces(answer, body) {
    const { content, ...message } = messageOf(answer, body);
    const start = { ...message, content: [], stop_reason: null };
    const delta = { stop_reason: message.stop_reason, stop_sequence: null };
    return [
      { type: "message_start", message: start },
      ...content.flatMap(blockPieces),
      { type: "message_delta", delta, usage: { output_tokens: USAGE.output } },
      { type: "message_stop" },
    ].map((data) => ({ event: data.type, data }));
  },
  whole: messageOf,
  failure: ({ type, message, more }) => ({ type: "error", error: { type, message, ...more } }),
};

/** Amp calls the command `cmd`. */
function wordsOfShell(offered: Body[]): "cmd" | "command" {
  const bash = JSON.stringify(offered.find(({ name }) => name === "Bash") ?? {});
  return bash.includes('"cmd":') ? "cmd" : "command";
}

type Block = { type: "text"; text: string } | { type: "tool_use"; id: string; name: string; input: unknown };

function messageOf({ text, call }: Answer, body: Body) {
  const content: Block[] = [];
  if (text !== "" || call === undefined) content.push({ type: "text", text });
  if (call !== undefined) content.push({ type: "tool_use", id: newId("toolu"), ...call });
  return {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model: body["model"],
    content,
    stop_reason: call === undefined ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: {
      input_tokens: USAGE.input,
      output_tokens: USAGE.output,
      cache_read_input_tokens: USAGE.cached,
      cache_creation_input_tokens: 0,
    },
  };
}

function blockPieces(block: Block, index: number): { type: string; [field: string]: unknown }[] {
  const isText = block.type === "text";
  const start = isText ? { ...block, text: "" } : { ...block, input: {} };
  const deltas = isText
    ? halves(block.text).map((text) => ({ type: "text_delta", text }))
    : halves(JSON.stringify(block.input)).map((json) => ({ type: "input_json_delta", partial_json: json }));
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}
