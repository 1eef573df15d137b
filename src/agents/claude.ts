import { z } from "zod";
import type { AgentEvent, LiveUsage } from "../events.js";
import type { Agent, Permissions } from "./agent.js";
import { SETTINGS_FLAG, withHooks } from "./claude-hooks.js";
import { modelFlag, unlessGiven } from "./flags.js";
import { assistantEvents, Message, parentId, tokens, Usage, userEvents } from "./messages.js";
import { lineParser, loose, optionalFlag, optionalNumber, optionalText } from "./read.js";
import { type AgentScreen, inputAt, isIndented, withMore } from "./screen.js";
import { NO_TOKENS } from "./spending.js";

const SKIP_PERMISSIONS = "--dangerously-skip-permissions";
const PERMISSION_FLAGS: Record<Permissions, string[]> = {
  unattended: [SKIP_PERMISSIONS],
  all: [SKIP_PERMISSIONS],
  edits: ["--permission-mode", "acceptEdits"],
  ask: [],
};
/** Pieces of messages as they are written: the finest sign of life there is. */
const PARTIAL = "--include-partial-messages";

const RULE = /^─{8,}/;
const SPINNER = /^[·✢✳✶✻✽*] [^…]{1,80}…/;

/** An input between two rules, and a footer below. A narrow window shows the spinner alone. */
const screen: AgentScreen = {
  input(lines) {
    const { top, footer } = frame(lines);
    if (top < 0 || !isIndented(footer)) return undefined;
    if (lines.slice(Math.max(0, top - 2), top).some((line) => /not logged in · run \/login/i.test(line))) {
      return {
        state: "blocked",
        why: "Claude Code is not signed in: run claude once by hand, and /login in it",
      };
    }
    if (footer.some((line) => /esc to interrupt/.test(line))) return { state: "waiting", isBusy: true };
    return inputAt(lines, top, SPINNER);
  },
  dialogs: [
    [/choose the text style|syntax theme:/i, "Claude Code asks for a theme: run claude once by hand"],
    [/select login method|url below to sign in/i, "Claude Code asks to sign in: run claude once by hand"],
    [
      /detected a custom api key/i,
      "Claude Code asks whether to use ANTHROPIC_API_KEY: run claude once by hand",
    ],
    [
      /bypass permissions mode/i,
      "Claude Code warns of its bypass-permissions mode: run claude with it once by hand and accept",
    ],
    [/security notes:/i, "Claude Code shows its security notes: run claude once by hand"],
    [
      /i trust this folder|trust the files in this folder(?!.*gemini)/i,
      "Claude Code asks whether to trust this folder: run claude in it once by hand",
    ],
  ],
  questions: [[/paste code here/i, "Claude Code asks to sign in: run claude once by hand"]],
  /** `⚠ Usage limit reached · limit resets 6:58pm`. Above the input it shows words of the model in the same way. */
  ownLine(lines) {
    const { top, footer } = frame(lines);
    const first = footer.findIndex((line) => /^\s+⚠/.test(line));
    return top < 0 || first < 0 ? undefined : withMore(footer.slice(first), /^\s{4,}\S/);
  },
};

/** Where the input is, -1 where there is none, and what stands below it. */
function frame(lines: string[]): { top: number; footer: string[] } {
  const bottom = lines.findLastIndex((line) => RULE.test(line));
  const top = lines.slice(0, Math.max(0, bottom)).findLastIndex((line) => RULE.test(line));
  const isInput = /^[❯>!](?:\s|$)/.test(lines[top + 1] ?? "");
  return { top: isInput ? top : -1, footer: lines.slice(bottom + 1) };
}

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
  screen,
  firstMessage: (message) => [message],
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
        ...unlessGiven(
          own,
          ["--output-format"],
          ["--output-format", mode === "stream" ? "stream-json" : "text"],
        ),
        ...(mode === "stream"
          ? ["--verbose", PARTIAL].flatMap((flag) => unlessGiven(own, [flag], [flag]))
          : []),
        ...modelFlag(own, model),
        ...unlessGiven(own, [SKIP_PERMISSIONS, "--permission-mode"], PERMISSION_FLAGS[permissions]),
        ...budgetFlags(own, maxCostUsd),
        ...args,
      ],
      stdin: prompt,
      ...more,
    };
  },
  parse: (line) => parseLine(line),
};

function budgetFlags(own: string[], maxCostUsd: number | undefined): string[] {
  if (maxCostUsd === undefined || maxCostUsd <= 0) return [];
  return unlessGiven(own, ["--max-budget-usd"], ["--max-budget-usd", String(maxCostUsd)]);
}

/** Set for what a subagent says: the one in streams, the other in transcripts. */
const Speaker = { parent_tool_use_id: parentId, isSidechain: optionalFlag };

const Line = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("stream_event"),
    api_message_id: optionalText,
    uuid: optionalText,
    event: z.object({
      type: z.string(),
      usage: loose(Usage),
      message: loose(Message),
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
    is_error: optionalFlag,
    result: optionalText,
    errors: loose(z.array(z.string())),
    api_error_status: optionalNumber,
    total_cost_usd: optionalNumber,
    usage: loose(Usage),
  }),
  z.object({
    type: z.literal("rate_limit_event"),
    rate_limit_info: z.object({
      status: z.string(),
      resetsAt: optionalNumber,
      rateLimitType: optionalText,
      isUsingOverage: optionalFlag,
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
