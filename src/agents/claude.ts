import { z } from "zod";
import type { AgentEvent, LiveUsage } from "../events.js";
import type { Agent, AskOptions } from "./agent.js";
import { SETTINGS_FLAG, withHooks } from "./claude-hooks.js";
import { modelFlag, unlessGiven } from "./flags.js";
import { assistantEvents, Message, parentId, tokens, Usage, userEvents } from "./messages.js";
import { lineParser, optionalNumber, optionalText } from "./read.js";
import { NO_TOKENS } from "./spending.js";

const PERMISSION_FLAGS = ["--dangerously-skip-permissions", "--permission-mode"];

export const claude: Agent = {
  name: "claude",
  reports: ["cost", "tokens"],
  takesModel: true,
  credentials: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
  setup: {
    install: "npm install -g @anthropic-ai/claude-code",
    signIn: "claude auth login",
    loginFile: { variable: "CLAUDE_CONFIG_DIR", folder: ".claude", path: ".credentials.json" },
    otherVariables: ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"],
    usesKeychain: true,
  },
  hooks: { areIn: () => true, settingsFlag: SETTINGS_FLAG },
  needs: {
    hosts: ["api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai"],
    urlVariables: ["ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL"],
    state: ["session-env", "shell-snapshots"].map((path) => ({
      variable: "CLAUDE_CONFIG_DIR",
      folder: ".claude",
      path,
      beginsEmpty: true,
    })),
  },
  command({ words, flags, mode, model, permissions, prompt, maxCostUsd, hooks }) {
    const [file = "claude", ...extra] = words;
    const own = [...extra, ...flags];
    const { args, ...more } = withHooks(own, hooks);
    return {
      file,
      args: [
        ...unlessGiven(own, ["-p", "--print"], ["-p"]),
        ...unlessGiven(own, ["--output-format"], outputFlags(mode)),
        ...(mode === "stream" ? unlessGiven(own, ["--verbose"], ["--verbose"]) : []),
        ...(mode === "stream" ? unlessGiven(own, [PARTIAL], [PARTIAL]) : []),
        ...modelFlag(own, model),
        ...unlessGiven(own, PERMISSION_FLAGS, permissionFlags(permissions)),
        ...budgetFlags(own, maxCostUsd),
        ...args,
      ],
      stdin: prompt,
      ...more,
    };
  },
  parse: (line) => parseLine(line),
};

/** Pieces of messages as they are written: the finest sign of life there is. */
const PARTIAL = "--include-partial-messages";

function outputFlags(mode: AskOptions["mode"]): string[] {
  return ["--output-format", mode === "stream" ? "stream-json" : "text"];
}

function permissionFlags(permissions: AskOptions["permissions"]): string[] {
  switch (permissions) {
    case "unattended":
    case "all":
      return ["--dangerously-skip-permissions"];
    case "edits":
      return ["--permission-mode", "acceptEdits"];
    case "ask":
      return [];
  }
}

function budgetFlags(own: string[], maxCostUsd: number | undefined): string[] {
  if (maxCostUsd === undefined || maxCostUsd <= 0) return [];
  return unlessGiven(own, ["--max-budget-usd"], ["--max-budget-usd", String(maxCostUsd)]);
}

/** Set for what a subagent says: the one in streams, the other in transcripts. */
const Speaker = { parent_tool_use_id: parentId, isSidechain: z.boolean().optional().catch(undefined) };

const Line = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("stream_event"),
    api_message_id: optionalText,
    uuid: optionalText,
    event: z.object({
      type: z.string(),
      usage: Usage.optional().catch(undefined),
      message: Message.optional().catch(undefined),
    }),
  }),
  z.object({ type: z.literal("assistant"), message: Message, ...Speaker }),
  z.object({ type: z.literal("user"), message: Message, ...Speaker }),
  z.object({
    type: z.literal("system"),
    subtype: optionalText,
    session_id: optionalText,
    attempt: optionalNumber,
    max_retries: optionalNumber,
    error_status: optionalNumber,
    retry_delay_ms: optionalNumber,
    error: optionalText,
    content: optionalText,
    text: optionalText,
  }),
  z.object({
    type: z.literal("result"),
    subtype: optionalText,
    is_error: z.boolean().optional().catch(undefined),
    result: optionalText,
    errors: z.array(z.string()).optional().catch(undefined),
    api_error_status: optionalNumber,
    total_cost_usd: optionalNumber,
    usage: Usage.optional().catch(undefined),
  }),
  z.object({
    type: z.literal("rate_limit_event"),
    rate_limit_info: z.object({
      status: z.string(),
      resetsAt: optionalNumber,
      rateLimitType: optionalText,
      isUsingOverage: z.boolean().optional().catch(undefined),
    }),
  }),
]);
type Line = z.infer<typeof Line>;
type LineOf<T extends Line["type"]> = Extract<Line, { type: T }>;

const parseLine = lineParser(Line, (line): AgentEvent[] => {
  switch (line.type) {
    case "assistant":
      return [...spending(line.message), ...assistantEvents(line.message, isSubagent(line))];
    case "user":
      return userEvents(line.message, isSubagent(line));
    case "stream_event":
      return partial(line);
    case "system":
      return system(line);
    case "result":
      return [result(line)];
    case "rate_limit_event":
      return [rateLimit(line.rate_limit_info)];
  }
});

function isSubagent({ parent_tool_use_id, isSidechain }: LineOf<"assistant" | "user">): boolean {
  return typeof parent_tool_use_id === "string" || isSidechain === true;
}

/** Several events describe one message; what it read is in each of them, what it wrote comes with the last. */
function spending({ id, usage }: Message): AgentEvent[] {
  if (id === undefined || usage === undefined) return [];
  return [spentSoFar({ ...tokens(usage), outputTokens: 0, key: id })];
}

function partial({ event, api_message_id, uuid }: LineOf<"stream_event">): AgentEvent[] {
  // One that is ended before its first word has read all the same.
  if (event.type === "message_start" && event.message) return spending(event.message);
  if (event.type !== "message_delta" || event.usage === undefined) return [];
  const key = `${api_message_id ?? uuid ?? ""}:written`;
  return [spentSoFar({ ...NO_TOKENS, outputTokens: event.usage.output_tokens ?? 0, key })];
}

function spentSoFar(usage: LiveUsage): AgentEvent {
  return { type: "progress", message: "", usage };
}

function system(line: LineOf<"system">): AgentEvent[] {
  switch (line.subtype) {
    case "init":
      return [{ type: "progress", message: `session ${line.session_id ?? ""}`.trim() }];
    case "api_retry": {
      const { attempt = "?", max_retries = "?", error_status: status, error = "" } = line;
      const what = `${status ?? ""} ${error}`.trim() || "unknown error";
      return [
        {
          type: "error",
          message: `API retry ${attempt}/${max_retries}: ${what}`,
          ...(status !== undefined && { status }),
          ...(line.retry_delay_ms !== undefined && { retryAfterMs: line.retry_delay_ms }),
        },
      ];
    }
    case "informational":
    case "notification":
      return [{ type: "progress", message: line.content ?? line.text ?? "" }];
    default:
      return [];
  }
}

/** An API error comes as subtype `success` with `is_error`: the subtype alone proves nothing. */
function result(line: LineOf<"result">): AgentEvent {
  const isWhole = (line.subtype ?? "success") === "success";
  const failed = line.is_error === true || !isWhole;
  // Of one that was cut off, the result is what the model was saying.
  const own = isWhole ? line.result : undefined;
  const error = own || line.errors?.join("; ") || line.subtype || "error";
  return {
    type: "result",
    ...(line.result !== undefined && { text: line.result }),
    ...(line.usage && { usage: tokens(line.usage) }),
    ...(line.total_cost_usd !== undefined && { costUsd: line.total_cost_usd }),
    ...(failed && { error }),
    ...(failed && line.api_error_status !== undefined && { status: line.api_error_status }),
  };
}

function rateLimit(info: LineOf<"rate_limit_event">["rate_limit_info"]): AgentEvent {
  return {
    type: "rate_limit",
    status: info.status,
    ...(info.resetsAt !== undefined && { resetsAt: info.resetsAt }),
    ...(info.rateLimitType !== undefined && { limitType: info.rateLimitType }),
    ...(info.isUsingOverage !== undefined && { usingOverage: info.isUsingOverage }),
  };
}
