import { z } from "zod";
import type { AgentEvent, ProgressEvent } from "../events.js";
import type { Agent, AgentCommand, AskOptions } from "./agent.js";
import { isGiven, modelFlag, unlessGiven } from "./flags.js";
import { lineParser, loose, optionalFlag, optionalNumber, optionalText, toolEnd, toolStart } from "./read.js";
import { type AgentScreen, isIndented } from "./screen.js";

/** The flag has changed its name; all of them respect what the user's own settings deny. */
const ALLOW_FLAGS = ["--auto", "--dangerously-skip-permissions"];

/** What it runs. */
const CODE = ["node_modules", "bin", "packages", "package.json"];
const SETTINGS = [
  "opencode.json",
  "opencode.jsonc",
  "config.json",
  "AGENTS.md",
  ...["agent", "command", "plugin", "skill", "tool"].flatMap((name) => [name, `${name}s`]),
];

const screen: AgentScreen = {
  /** A bar with its foot, and the keys below; what lies over it is a dialog. */
  input(lines) {
    const foot = lines.findLastIndex((line) => /▀{20,}/.test(line));
    const below = lines.slice(foot + 1);
    if (foot < 1 || below.length === 0 || !isIndented(below)) return undefined;
    if (!/┃/.test(lines.slice(Math.max(0, foot - 3), foot).join(""))) return undefined;
    if (lines.some((line) => /^\s+\S.*\s{3,}esc$/.test(line))) return undefined;
    if (below.some((line) => /[⬝■]{3,}|esc interrupt/.test(line))) return { state: "waiting", isBusy: true };
    return /commands/.test(below.join(" ")) ? { state: "ready" } : undefined;
  },
  dialogs: [
    [/connect a provider/i, "OpenCode asks for a provider: run opencode once by hand"],
    [/would you like to update/i, "OpenCode asks whether to update: run opencode once by hand"],
  ],
};

export const opencode: Agent = {
  name: "opencode",
  probe: ["run", "--help"],
  reports: ["cost", "tokens"],
  takesModel: true,
  credentials: ["OPENCODE_API_KEY"],
  setup: {
    install: "npm install -g opencode-ai",
    signIn: "opencode auth login",
    loginFile: { variable: "XDG_DATA_HOME", folder: ".local/share", path: "opencode/auth.json" },
    otherVariables: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
    usesKeychain: false,
  },
  needs: {
    hosts: ["opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com"],
    urlVariables: ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"],
    reads: ["opencode.json", "opencode.jsonc", ".opencode"],
    // Its login can name a host whose settings it obeys, so that it is not renewed for good.
    state: [
      { variable: "XDG_DATA_HOME", folder: ".local/share", path: "opencode", obeys: ["auth.json", "bin"] },
      { variable: "XDG_STATE_HOME", folder: ".local/state", path: "opencode" },
      { variable: "XDG_CACHE_HOME", folder: ".cache", path: "opencode", obeys: CODE },
      { folder: "", path: ".opencode", obeys: [...CODE, ...SETTINGS] },
      { variable: "XDG_CONFIG_HOME", folder: ".config", path: "opencode", obeys: [...CODE, ...SETTINGS] },
    ],
  },
  screen,
  firstMessage: (message) => ["--prompt", message],
  command(options) {
    const [file = "opencode", ...extra] = options.words;
    const rest = extra[0] === "run" ? extra.slice(1) : extra;
    const own = [...rest, ...options.flags];
    const allowed = permission(options, own);
    return {
      file,
      args: [
        "run",
        ...(options.mode === "stream" ? unlessGiven(own, ["--format"], ["--format", "json"]) : []),
        ...modelFlag(own, options.model),
        ...allowed.args,
        ...own,
      ],
      ...(allowed.env && { env: allowed.env }),
      stdin: options.prompt,
    };
  },
  parse: (line) => parseLine(line),
};

function permission({ permissions, help }: AskOptions, own: string[]): Pick<AgentCommand, "args" | "env"> {
  const unattended = permissions === "unattended" || permissions === "all";
  if (!unattended || isGiven(own, [...ALLOW_FLAGS, "--yolo"])) return { args: [] };
  const flag = ALLOW_FLAGS.find((name) => help.includes(name));
  if (flag !== undefined) return { args: [flag] };
  return { args: [], env: { OPENCODE_PERMISSION: '{"*":"allow"}' } };
}

const Line = z.discriminatedUnion("type", [
  z.object({ type: z.literal("step_start"), sessionID: optionalText }),
  z.object({
    type: z.literal("text"),
    part: z.object({
      text: z.string(),
      messageID: optionalText,
      synthetic: optionalFlag,
    }),
  }),
  z.object({ type: z.literal("reasoning"), part: z.object({ text: optionalText }) }),
  z.object({
    type: z.literal("tool_use"),
    part: z.object({
      tool: z.string(),
      callID: z.string(),
      state: z.object({
        status: z.string(),
        input: z.unknown().optional(),
        output: optionalText,
        error: optionalText,
        metadata: loose(z.object({ exit: z.number().nullish().catch(undefined) })),
      }),
    }),
  }),
  z.object({
    type: z.literal("step_finish"),
    part: z.object({
      id: optionalText,
      reason: optionalText,
      cost: optionalNumber,
      tokens: loose(
        z.object({
          input: optionalNumber,
          output: optionalNumber,
          reasoning: optionalNumber,
          cache: loose(z.object({ read: optionalNumber, write: optionalNumber })),
        }),
      ),
    }),
  }),
  z.object({
    type: z.literal("error"),
    error: loose(
      z.object({
        name: optionalText,
        data: loose(
          z.object({
            message: optionalText,
            statusCode: optionalNumber,
            responseHeaders: loose(z.record(z.string(), z.string())),
          }),
        ),
      }),
    ),
  }),
]);
type Line = z.infer<typeof Line>;
type PartOf<T extends "tool_use" | "step_finish"> = Extract<Line, { type: T }>["part"];

const parseLine = lineParser(Line, (line): AgentEvent[] => {
  switch (line.type) {
    case "step_start":
      return [{ type: "progress", message: `session ${line.sessionID ?? ""}`.trim(), newTurn: true }];
    case "text":
      if (line.part.synthetic === true) return [{ type: "progress", message: line.part.text, newTurn: true }];
      return [{ type: "text", text: line.part.text, message: line.part.messageID ?? "" }];
    case "reasoning":
      return [{ type: "progress", message: line.part.text ?? "" }];
    case "tool_use":
      return toolUse(line.part);
    case "step_finish":
      return stepFinish(line.part);
    case "error":
      return [failure(line.error)];
  }
});

/** Why a step ends after which OpenCode takes another one. */
const GOES_ON = new Set(["tool-calls", "unknown"]);

/** There is no result event: it is at its end when it takes no other step. */
function stepFinish(part: PartOf<"step_finish">): AgentEvent[] {
  const { reason = "" } = part;
  if (reason === "error") return [spent(part), { type: "result", error: "its last step failed" }];
  return [GOES_ON.has(reason) ? spent(part) : { ...spent(part), ended: true }];
}

function failure(error: Extract<Line, { type: "error" }>["error"]): AgentEvent {
  const { message, statusCode, responseHeaders } = error?.data ?? {};
  const headers = inLowerCase(responseHeaders);
  const ms = numberIn(headers["retry-after-ms"]) ?? times1000(numberIn(headers["retry-after"]));
  const date = ms === undefined ? dateIn(headers["retry-after"]) : "";
  return {
    type: "result",
    error: `${message ?? error?.name ?? "error"}${date}`,
    ...(statusCode !== undefined && { status: statusCode }),
    ...(ms !== undefined && { retryAfterMs: ms }),
  };
}

function inLowerCase(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function numberIn(header: unknown): number | undefined {
  return typeof header === "string" && /^\s*\d+(?:\.\d+)?\s*$/.test(header) ? Number(header) : undefined;
}

function times1000(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** A date is told in words: how long it is until then depends on when they are read. */
function dateIn(header: unknown): string {
  return typeof header === "string" && /^\w{3}, \d\d /.test(header) ? ` (retry-after: ${header})` : "";
}

function toolUse({ tool, callID, state }: PartOf<"tool_use">): AgentEvent[] {
  const exit = state.metadata?.exit;
  const failed = state.status === "error" || (typeof exit === "number" && exit !== 0);
  return [toolStart(callID, tool, state.input), toolEnd(callID, state.output ?? state.error ?? "", failed)];
}

/** It counts apart what it read from the cache, and what it thought. */
function spent({ id, cost, tokens }: PartOf<"step_finish">): ProgressEvent {
  const { read: cacheReadTokens = 0, write: cacheWriteTokens = 0 } = tokens?.cache ?? {};
  return {
    type: "progress",
    message: "",
    usage: {
      ...(id !== undefined && { key: id }),
      ...(cost !== undefined && { costUsd: cost }),
      inputTokens: (tokens?.input ?? 0) + cacheReadTokens + cacheWriteTokens,
      outputTokens: (tokens?.output ?? 0) + (tokens?.reasoning ?? 0),
      cacheReadTokens,
      cacheWriteTokens,
    },
  };
}
