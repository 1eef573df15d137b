import type { Step } from "./cases.js";

type Lines = (text: string, number: number) => (string | object)[];

/** How one agent writes what a case says. */
export interface Writer {
  begin?: (prompt: string) => object[];
  /** A verb that is missing here is nothing that this agent can write. */
  verbs: Record<string, Lines>;
  /** What ends a stream that was not cut, with what was last said. */
  end?: (said: string) => object[];
  /** The exit code after a failure that was told. */
  exitAfterFailure: number;
}

const message = (content: object[], more: object = {}): object => ({
  type: "assistant",
  message: { id: "msg_1", role: "assistant", content },
  parent_tool_use_id: null,
  ...more,
});
const heard = (content: object[] | string, more: object = {}): object => ({
  type: "user",
  message: { role: "user", content },
  parent_tool_use_id: null,
  ...more,
});
const toolUse = (id: string, command: string): object => ({
  type: "tool_use",
  id,
  name: "Bash",
  input: { command },
});
const toolResult = (id: string, content: unknown, isError: boolean): object => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  is_error: isError,
});

/** What Claude Code and Amp have in common. */
const ANTHROPIC: Record<string, Lines> = {
  say: (text) => [message([{ type: "text", text }])],
  think: (text) => [message([{ type: "thinking", thinking: text }])],
  told: (text) => [heard([{ type: "text", text }])],
  sub: (text) => [message([{ type: "text", text }], { parent_tool_use_id: "toolu_task" })],
  "sub-tool": (text, n) => [
    message([toolUse(`t${n}`, text)], { parent_tool_use_id: "toolu_task" }),
    heard([toolResult(`t${n}`, "ok", false)], { parent_tool_use_id: "toolu_task" }),
  ],
  tool: (text, n) => [message([toolUse(`t${n}`, "cat notes")]), heard([toolResult(`t${n}`, text, false)])],
  blocks: (text, n) => [
    message([toolUse(`t${n}`, "cat notes")]),
    heard([toolResult(`t${n}`, [{ type: "text", text }], false)]),
  ],
  "tool-failed": (text, n) => [
    message([toolUse(`t${n}`, "npm test")]),
    heard([toolResult(`t${n}`, text, true)]),
  ],
  "tool-input": (text, n) => [message([toolUse(`t${n}`, text)]), heard([toolResult(`t${n}`, "ok", false)])],
  "tool-open": (text, n) => [message([toolUse(`t${n}`, text)])],
};

const claude: Writer = {
  begin: () => [{ type: "system", subtype: "init", session_id: "s" }],
  verbs: {
    ...ANTHROPIC,
    sidechain: (text) => [message([{ type: "text", text }], { isSidechain: true })],
    fail: (text) => [{ type: "result", subtype: "success", is_error: true, result: text }],
    status: (text) => {
      const [status, ...words] = text.split(" ");
      const result = words.join(" ");
      return [
        { type: "result", subtype: "success", is_error: true, api_error_status: Number(status), result },
      ];
    },
    result: (text) => [{ type: "result", subtype: "success", is_error: false, result: text }],
    "cut-off": (text) => {
      const [subtype, ...words] = text.split(" ");
      return [{ type: "result", subtype, is_error: true, result: words.join(" ") }];
    },
  },
  end: (said) => [
    { type: "result", subtype: "success", is_error: false, result: said, total_cost_usd: 0.01 },
  ],
  exitAfterFailure: 1,
};

const amp: Writer = {
  begin: (prompt) => [{ type: "system", subtype: "init" }, heard([{ type: "text", text: prompt }])],
  verbs: {
    ...ANTHROPIC,
    fail: (text) => [{ type: "result", subtype: "error_during_execution", is_error: true, error: text }],
    result: (text) => [{ type: "result", subtype: "success", is_error: false, result: text }],
  },
  end: (said) => [{ type: "result", subtype: "success", is_error: false, result: said }],
  exitAfterFailure: 0,
};

const item = (id: string, type: string, more: object): object => ({
  type: "item.completed",
  item: { id, type, ...more },
});
const ran = (n: number, command: string, output: string, exitCode: number): object[] => [
  { type: "item.started", item: { id: `i${n}`, type: "command_execution", command, aggregated_output: "" } },
  item(`i${n}`, "command_execution", { command, aggregated_output: output, exit_code: exitCode }),
];

const codex: Writer = {
  begin: () => [{ type: "thread.started", thread_id: "t" }, { type: "turn.started" }],
  verbs: {
    say: (text, n) => [item(`i${n}`, "agent_message", { text })],
    think: (text, n) => [item(`i${n}`, "reasoning", { text })],
    tool: (text, n) => ran(n, "cat notes", text, 0),
    "tool-failed": (text, n) => ran(n, "npm test", text, 1),
    "tool-input": (text, n) => ran(n, text, "ok", 0),
    warn: (text, n) => [item(`i${n}`, "error", { message: text })],
    retry: (text) => [{ type: "error", message: text }],
    fail: (text) => [
      { type: "error", message: text },
      { type: "turn.failed", error: { message: text } },
    ],
  },
  end: () => [{ type: "turn.completed", usage: { input_tokens: 10, output_tokens: 5 } }],
  exitAfterFailure: 1,
};

const geminiTool = (n: number, command: string, status: string, output: string): object[] => [
  { type: "tool_use", tool_name: "run_shell_command", tool_id: `t${n}`, parameters: { command } },
  { type: "tool_result", tool_id: `t${n}`, status, output },
];

const gemini: Writer = {
  begin: (prompt) => [
    { type: "init", session_id: "s", model: "auto" },
    { type: "message", role: "user", content: prompt },
  ],
  verbs: {
    say: (text) => [{ type: "message", role: "assistant", content: text, delta: true }],
    told: (text) => [{ type: "message", role: "user", content: text }],
    tool: (text, n) => geminiTool(n, "cat notes", "success", text),
    "tool-failed": (text, n) => geminiTool(n, "npm test", "error", text),
    "tool-input": (text, n) => geminiTool(n, text, "success", "ok"),
    fail: (text) => [{ type: "result", status: "error", error: { type: "Error", message: text } }],
  },
  end: () => [{ type: "result", status: "success", stats: { input_tokens: 10, output_tokens: 5 } }],
  exitAfterFailure: 1,
};

const part = (type: string, more: object): object => ({
  type,
  part: { id: "p", messageID: "m", type, ...more },
});
const openTool = (n: number, command: string, state: object): object[] => [
  part("tool_use", { tool: "bash", callID: `c${n}`, state: { input: { command }, ...state } }),
];

const opencode: Writer = {
  begin: () => [part("step_start", {})],
  verbs: {
    say: (text) => [part("text", { text })],
    think: (text) => [part("reasoning", { text })],
    told: (text) => [part("text", { text, synthetic: true })],
    tool: (text, n) => openTool(n, "cat notes", { status: "completed", output: text, metadata: { exit: 0 } }),
    "tool-failed": (text, n) => openTool(n, "npm test", { status: "error", error: text }),
    "tool-input": (text, n) => openTool(n, text, { status: "completed", output: "ok" }),
    fail: (text) => [{ type: "error", error: { name: "APIError", data: { message: text } } }],
    status: (text) => {
      const [status, ...words] = text.split(" ");
      const data = { message: words.join(" "), statusCode: Number(status) };
      return [{ type: "error", error: { name: "APIError", data } }];
    },
  },
  end: () => [part("step_finish", { reason: "stop", cost: 0.01, tokens: { input: 10, output: 5 } })],
  exitAfterFailure: 0,
};

/** All that a plain command writes is what it says, so it can write nothing else. */
const command: Writer = { verbs: { say: (text) => [text] }, exitAfterFailure: 1 };

export const WRITERS: Record<string, Writer> = { claude, codex, amp, gemini, opencode, command };

/** Verbs that need no writer: how a call ends, and what is done to files. */
const ENDINGS = new Set([
  "exit",
  "signal",
  "stderr",
  "stopped",
  "cut",
  "end",
  "line",
  "recorded",
  "set",
  "add",
  "drop",
  "write",
  "sh",
  "commit",
  "commands",
  "mine",
  "refused",
]);

export function canWrite(agent: string, steps: Step[]): boolean {
  return steps.every(({ verb }) => ENDINGS.has(verb) || WRITERS[agent]?.verbs[verb] !== undefined);
}
