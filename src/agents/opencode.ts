import { z } from "zod";
import type { ProgressEvent } from "../events.js";
import { type Agent, asksOnce, isGiven, isIndented, partsOf } from "./agent.js";
import { defined, lineParser, maybe, on, session, toolEnd, toolStart } from "./read.js";

/** The flag has changed its name; both respect what the user's own settings deny. */
const ALLOW_FLAGS = ["--auto", "--dangerously-skip-permissions"];

const CODE = ["node_modules", "bin", "packages", "package.json"];
const SETTINGS = [
  "opencode.json",
  "opencode.jsonc",
  "config.json",
  "AGENTS.md",
  ...["agent", "command", "plugin", "skill", "tool"].flatMap((name) => [name, `${name}s`]),
];

const ToolPart = z.object({
  tool: z.string(),
  callID: z.string(),
  state: z.object({
    status: z.string(),
    input: z.unknown().optional(),
    ...maybe.texts("output", "error"),
    metadata: maybe.object({ exit: maybe.code }),
  }),
});

const StepPart = z.object({
  ...maybe.texts("id", "reason"),
  cost: maybe.number,
  tokens: maybe.object({
    ...maybe.numbers("input", "output", "reasoning"),
    cache: maybe.object(maybe.numbers("read", "write")),
  }),
});

const Failure = z.object({
  name: maybe.text,
  data: maybe.object({
    message: maybe.text,
    statusCode: maybe.number,
    responseHeaders: maybe.of(z.record(z.string(), z.string())),
  }),
});

const TextPart = z.object({ text: z.string(), messageID: maybe.text, synthetic: maybe.flag });

/** Reasons of a step's end after which OpenCode takes another step. */
const GOES_ON = new Set(["tool-calls", "unknown"]);

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
  },
  needs: {
    dockerTemplate: true,
    hosts: ["opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com"],
    urlVariables: ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"],
    reads: ["opencode.json", "opencode.jsonc", ".opencode"],
    // Its login can name a host whose settings it obeys, so ralph does not keep a renewed login.
    state: [
      { variable: "XDG_DATA_HOME", folder: ".local/share", path: "opencode", obeys: ["auth.json", "bin"] },
      { variable: "XDG_STATE_HOME", folder: ".local/state", path: "opencode" },
      { variable: "XDG_CACHE_HOME", folder: ".cache", path: "opencode", obeys: CODE },
      { folder: "", path: ".opencode", obeys: [...CODE, ...SETTINGS] },
      { variable: "XDG_CONFIG_HOME", folder: ".config", path: "opencode", obeys: [...CODE, ...SETTINGS] },
    ],
  },
  screen: {
    /** A bar with its foot, and the keys below; a dialog covers it. */
    input(lines) {
      const foot = lines.findLastIndex((line) => /▀{20,}/.test(line));
      const below = lines.slice(foot + 1);
      if (foot < 1 || below.length === 0 || !isIndented(below)) return undefined;
      if (!/┃/.test(lines.slice(Math.max(0, foot - 3), foot).join(""))) return undefined;
      if (lines.some((line) => /^\s+\S.*\s{3,}esc$/.test(line))) return undefined;
      if (below.some((line) => /[⬝■]{3,}|esc interrupt/.test(line)))
        return { state: "waiting", isBusy: true };
      return /commands/.test(below.join(" ")) ? { state: "ready" } : undefined;
    },
    dialogs: asksOnce("OpenCode", "opencode", [
      [/connect a provider/i, "asks for a provider"],
      [/would you like to update/i, "asks whether to update"],
    ]),
  },
  firstMessage: (message) => ["--prompt", message],
  command(options) {
    const { mode, help, prompt } = options;
    const { file, own, ours, modelFlag, isUnattended } = partsOf(options, /^run$/);
    const format = mode === "stream" ? ours(["--format", "json"]) : [];
    const isOurs = isUnattended && !isGiven(own, [...ALLOW_FLAGS, "--yolo"]);
    const allow = isOurs ? ALLOW_FLAGS.filter((name) => help.includes(name)).slice(0, 1) : [];
    const env = { OPENCODE_PERMISSION: '{"*":"allow"}' };
    return {
      file,
      args: ["run", ...format, ...modelFlag, ...allow, ...own],
      ...(isOurs && allow.length === 0 && { env }),
      stdin: prompt,
    };
  },
  parse: lineParser({
    step_start: on({ sessionID: maybe.text }, (line) => [{ ...session(line.sessionID), newTurn: true }]),
    text: on({ part: TextPart }, ({ part: { text, messageID = "", synthetic } }) => [
      synthetic === true
        ? { type: "progress", message: text, newTurn: true }
        : { type: "text", text, message: messageID },
    ]),
    reasoning: on({ part: z.object({ text: maybe.text }) }, ({ part: { text = "" } }) => [
      { type: "progress", message: text },
    ]),
    tool_use: on({ part: ToolPart }, ({ part: { tool, callID, state } }) => {
      const failed = state.status === "error" || Boolean(state.metadata?.exit);
      const output = state.output ?? state.error ?? "";
      return [toolStart(callID, tool, state.input), toolEnd(callID, output, failed)];
    }),
    // There is no result event: a step that is not followed by another ends the call.
    step_finish: on({ part: StepPart }, ({ part }) => {
      const { reason = "" } = part;
      if (reason === "error") return [spent(part), { type: "result", error: "its last step failed" }];
      return [GOES_ON.has(reason) ? spent(part) : { ...spent(part), ended: true }];
    }),
    error: on({ error: maybe.of(Failure) }, ({ error }) => {
      const {
        message = error?.name ?? "error",
        statusCode: status,
        responseHeaders = {},
      } = error?.data ?? {};
      const headers = Object.entries(responseHeaders).map(
        ([name, value]) => `${name.toLowerCase()}: ${value}`,
      );
      // The header says when to try again, as other agents' messages do.
      const wait = headers.sort().find((header) => /^retry-after/.test(header));
      const words = wait === undefined ? message : `${message} (${wait})`;
      return [{ type: "result", error: words, ...defined({ status }) }];
    }),
  }),
};

/** It counts cached input and reasoning separately. */
function spent({ id, cost, tokens }: z.infer<typeof StepPart>): ProgressEvent {
  const { read: cacheReadTokens = 0, write: cacheWriteTokens = 0 } = tokens?.cache ?? {};
  return {
    type: "progress",
    message: "",
    usage: {
      ...defined({ key: id, costUsd: cost }),
      inputTokens: (tokens?.input ?? 0) + cacheReadTokens + cacheWriteTokens,
      outputTokens: (tokens?.output ?? 0) + (tokens?.reasoning ?? 0),
      cacheReadTokens,
      cacheWriteTokens,
    },
  };
}
