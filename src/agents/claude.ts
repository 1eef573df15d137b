import { z } from "zod";
import type { AgentEvent } from "../events.js";
import {
  type Agent,
  type AgentCommand,
  asksOnce,
  inputAt,
  isIndented,
  type LoopHooks,
  type Permissions,
  partsOf,
  withMore,
  withoutFlag,
} from "./agent.js";
import {
  assistantEvents,
  defined,
  ending,
  lineParser,
  Message,
  maybe,
  on,
  resultEvent,
  session,
  spoken,
  tokens,
  usage,
  userEvents,
} from "./read.js";
import { NO_TOKENS } from "./spending.js";

const SETTINGS_FLAG = "--settings";
const SKIP_PERMISSIONS = "--dangerously-skip-permissions";
const PERMISSION_FLAGS: Record<Permissions, string[]> = {
  unattended: [SKIP_PERMISSIONS],
  all: [SKIP_PERMISSIONS],
  edits: ["--permission-mode", "acceptEdits"],
  ask: [],
};
/** Pieces of messages as the model writes them: the finest sign of life there is. */
const PARTIAL = "--include-partial-messages";

const SIGNED_OUT = "Claude Code is not signed in: run claude once by hand, and /login in it";
const RULE = /^─{8,}/;
const SPINNER = /^[·✢✳✶✻✽*] [^…]{1,80}…/;

const STATE = { variable: "CLAUDE_CONFIG_DIR", folder: ".claude" };

const partialFields = {
  ...maybe.texts("api_message_id", "uuid"),
  event: z.object({ type: z.string(), usage, message: maybe.of(Message) }),
};
const systemFields = {
  ...maybe.texts("subtype", "session_id", "error", "content", "text"),
  ...maybe.numbers("attempt", "max_retries", "error_status", "retry_delay_ms"),
};
const LimitInfo = z.object({
  status: z.string(),
  resetsAt: maybe.number,
  rateLimitType: maybe.text,
  isUsingOverage: maybe.flag,
});
const resultFields = {
  ...ending,
  errors: maybe.list(z.string()),
  ...maybe.numbers("api_error_status", "total_cost_usd"),
};

export const claude: Agent = {
  name: "claude",
  reports: ["cost", "tokens"],
  takesModel: true,
  credentials: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
  setup: {
    install: "npm install -g @anthropic-ai/claude-code",
    signIn: "claude auth login",
    loginFile: { ...STATE, path: ".credentials.json" },
    otherVariables: ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"],
    usesKeychain: true,
  },
  hooks: { areIn: () => true, settingsFlag: SETTINGS_FLAG },
  refusesRoot: true,
  // Programs that imitate Claude Code recognize this call by the word `text`.
  textFlags: ["--input-format", "text"],
  /** An input between two rules, with a footer below. A narrow window shows only the spinner. */
  screen: {
    input(lines) {
      const { top, footer } = frame(lines);
      if (top < 0 || !isIndented(footer)) return undefined;
      if (lines.slice(Math.max(0, top - 2), top).some((line) => /not logged in · run \/login/i.test(line)))
        return { state: "blocked", why: SIGNED_OUT };
      if (footer.some((line) => /esc to interrupt/.test(line))) return { state: "waiting", isBusy: true };
      return inputAt(lines, top, SPINNER);
    },
    dialogs: [
      ...asksOnce("Claude Code", "claude", [
        [/choose the text style|syntax theme:/i, "asks for a theme"],
        [/select login method|url below to sign in/i, "asks to sign in"],
        [/detected a custom api key/i, "asks whether to use ANTHROPIC_API_KEY"],
        [/security notes:/i, "shows its security notes"],
        [
          /i trust this folder|trust the files in this folder(?!.*gemini)/i,
          "asks whether to trust this folder",
          "in it",
        ],
      ]),
      [
        /bypass permissions mode/i,
        "Claude Code warns of its bypass-permissions mode: run claude with it once by hand and accept",
      ],
    ],
    questions: asksOnce("Claude Code", "claude", [[/paste code here/i, "asks to sign in"]]),
    /** `⚠ Usage limit reached · limit resets 6:58pm`. Above the input, words of the model look the same. */
    ownLine(lines) {
      const { top, footer } = frame(lines);
      const first = footer.findIndex((line) => /^\s+⚠/.test(line));
      return top < 0 || first < 0 ? undefined : withMore(footer.slice(first), /^\s{4,}\S/);
    },
  },
  firstMessage: (message) => [message],
  needs: {
    dockerTemplate: true,
    hosts: ["api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai"],
    urlVariables: ["ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL"],
    state: ["session-env", "shell-snapshots"].map((path) => ({ ...STATE, path, beginsEmpty: true })),
  },
  command(options) {
    const { mode, permissions, prompt, maxCostUsd, hooks } = options;
    const { file, own, ours, modelFlag } = partsOf(options);
    const { args, ...more } = withHooks(own, hooks);
    const isStream = mode === "stream";
    const budget = maxCostUsd !== undefined && maxCostUsd > 0 ? ["--max-budget-usd", `${maxCostUsd}`] : [];
    return {
      file,
      args: [
        ...ours(["-p"], "--print"),
        ...ours(["--output-format", isStream ? "stream-json" : "text"]),
        ...(isStream ? [...ours(["--verbose"]), ...ours([PARTIAL])] : []),
        ...modelFlag,
        ...ours(PERMISSION_FLAGS[permissions], SKIP_PERMISSIONS, "--permission-mode"),
        ...ours(budget),
        ...args,
      ],
      stdin: prompt,
      ...more,
    };
  },
  parse: lineParser({
    assistant: on(spoken, (line) => [...spending(line.message), ...assistantEvents(line)]),
    user: on(spoken, userEvents),
    stream_event: on(partialFields, ({ event, api_message_id, uuid }) => {
      // A message that is cut off before its first word has still read its input.
      if (event.type === "message_start" && event.message) return spending(event.message);
      if (event.type !== "message_delta" || event.usage === undefined) return [];
      const key = `${api_message_id ?? uuid ?? ""}:written`;
      const { output_tokens: outputTokens = 0 } = event.usage;
      return [{ type: "progress", message: "", usage: { ...NO_TOKENS, outputTokens, key } }];
    }),
    system: on(systemFields, system),
    result: on(resultFields, (line) => {
      // The result of a call that was cut off is what the model was saying.
      const own = (line.subtype ?? "success") === "success" ? line.result : undefined;
      const event = resultEvent(line, own || line.errors?.join("; "));
      const status = event.error === undefined ? undefined : line.api_error_status;
      return [{ ...event, ...defined({ costUsd: line.total_cost_usd, status }) }];
    }),
    rate_limit_event: on({ rate_limit_info: LimitInfo }, ({ rate_limit_info: info }) => {
      const { status, resetsAt, rateLimitType: limitType, isUsingOverage: usingOverage } = info;
      return [{ type: "rate_limit", status, ...defined({ resetsAt, limitType, usingOverage }) }];
    }),
  }),
};

/** The line of the input, -1 without one, and the lines below it. */
function frame(lines: string[]): { top: number; footer: string[] } {
  const bottom = lines.findLastIndex((line) => RULE.test(line));
  const top = lines.slice(0, Math.max(0, bottom)).findLastIndex((line) => RULE.test(line));
  const isInput = /^[❯>!](?:\s|$)/.test(lines[top + 1] ?? "");
  return { top: isInput ? top : -1, footer: lines.slice(bottom + 1) };
}

/** The flags, with the loop's hooks in them. The user's own settings stay in force. */
function withHooks(
  own: string[],
  wiring: LoopHooks | undefined,
): Pick<AgentCommand, "args" | "env" | "files"> {
  if (wiring === undefined) return { args: own };
  const { settings, env } = wiring;
  const content = settings?.content ?? {};
  const all: Record<string, unknown> = Object.assign({}, content["hooks"]);
  const headers = { Authorization: `Bearer \${${wiring.tokenVariable}}` };
  for (const { event, url, timeoutSeconds: timeout } of wiring.hooks) {
    const hook = { type: "http", url, timeout, headers, allowedEnvVars: [wiring.tokenVariable] };
    // Claude Code calls every matching hook, so ralph's may follow the user's.
    const before: unknown = all[event];
    const group = { ...(event !== "Stop" && { matcher: ".*" }), hooks: [hook] };
    all[event] = [...(Array.isArray(before) ? before : []), group];
  }
  const text = JSON.stringify({ ...content, hooks: all });
  if (settings === undefined) return { args: [SETTINGS_FLAG, text, ...own], env };
  const args = [SETTINGS_FLAG, settings.file, ...withoutFlag(own, [SETTINGS_FLAG])];
  return { args, env, files: { [settings.file]: text } };
}

/** Several events describe one message: each has what it read, the last one has what it wrote. */
function spending({ id, usage }: Message): AgentEvent[] {
  if (id === undefined || usage === undefined) return [];
  return [{ type: "progress", message: "", usage: { ...tokens(usage), outputTokens: 0, key: id } }];
}

function system(line: z.infer<z.ZodObject<typeof systemFields>>): AgentEvent[] {
  switch (line.subtype) {
    case "init":
      return [session(line.session_id)];
    case "api_retry": {
      const { attempt = "?", max_retries = "?", error_status: status, retry_delay_ms: retryAfterMs } = line;
      const what = `${status ?? ""} ${line.error ?? ""}`.trim() || "unknown error";
      const message = `API retry ${attempt}/${max_retries}: ${what}`;
      return [{ type: "error", message, ...defined({ status, retryAfterMs }) }];
    }
    case "informational":
    case "notification":
      return [{ type: "progress", message: line.content ?? line.text ?? "" }];
    default:
      return [];
  }
}
