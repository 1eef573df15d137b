import {
  type Answer,
  type Body,
  type Dialect,
  halves,
  listIn,
  newId,
  type ToolCall,
  USAGE,
} from "./dialect.js";

/** The Responses API, as Codex speaks it. */
export const responses: Dialect = {
  speaks: (path) => path.endsWith("/responses"),
  read(body) {
    const tools = listIn(body, "tools").flatMap(namesOf);
    return {
      tools,
      shell: (command) => shellCall(tools, command),
      streams: body["stream"] === true,
      ...(tools.length === 0 && { aside: { text: "Work" } }),
    };
  },
  pieces(answer, body) {
    const response = responseOf(answer, body);
    const begun = { ...response, status: "in_progress", output: [] };
    const all = [
      { type: "response.created", response: begun },
      ...response.output.flatMap(itemPieces),
      { type: "response.completed", response },
    ];
    return all.map((data, at) => ({ event: data.type, data: { ...data, sequence_number: at } }));
  },
  whole: responseOf,
  failure: ({ type, message, more }) => ({ error: { type, message, code: null, ...more } }),
};

/** Some tools come in groups. */
function namesOf(tool: Body): string[] {
  const inner = listIn(tool, "tools");
  return inner.length > 0 ? inner.flatMap(namesOf) : [String(tool["name"] ?? tool["type"])];
}

const SHELLS: [string, (command: string) => Record<string, unknown>][] = [
  ["exec_command", (cmd) => ({ cmd })],
  ["shell_command", (command) => ({ command })],
  ["shell", (command) => ({ command: ["bash", "-lc", command] })],
];

function shellCall(tools: string[], command: string): ToolCall | undefined {
  const shell = SHELLS.find(([name]) => tools.includes(name));
  return shell && { name: shell[0], input: shell[1](command) };
}

type Item =
  | { type: "message"; id: string; role: "assistant"; status: string; content: [Text] }
  | { type: "function_call"; id: string; call_id: string; name: string; arguments: string; status: string };
type Text = { type: "output_text"; text: string; annotations: [] };

function responseOf({ text, call }: Answer, body: Body) {
  const output: Item[] = [];
  if (text !== "" || call === undefined) output.push(messageItem(text));
  if (call !== undefined) output.push(callItem(call));
  return {
    id: newId("resp"),
    object: "response",
    created_at: 1,
    model: body["model"],
    status: "completed",
    output,
    usage: {
      input_tokens: USAGE.input,
      input_tokens_details: { cached_tokens: USAGE.cached },
      output_tokens: USAGE.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: USAGE.input + USAGE.output,
    },
  };
}

function messageItem(text: string): Item {
  const content: [Text] = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id: newId("msg"), role: "assistant", status: "completed", content };
}

function callItem({ name, input }: ToolCall): Item {
  const ids = { id: newId("fc"), call_id: newId("call") };
  return { type: "function_call", ...ids, name, arguments: JSON.stringify(input), status: "completed" };
}

function itemPieces(item: Item, at: number): { type: string; [field: string]: unknown }[] {
  const place = { output_index: at, item_id: item.id };
  const begun = item.type === "message" ? { ...item, content: [] } : { ...item, arguments: "" };
  const deltas = item.type === "message" ? halves(item.content[0].text) : [];
  return [
    { type: "response.output_item.added", output_index: at, item: { ...begun, status: "in_progress" } },
    ...deltas.map((delta) => ({ type: "response.output_text.delta", ...place, content_index: 0, delta })),
    { type: "response.output_item.done", output_index: at, item },
  ];
}
