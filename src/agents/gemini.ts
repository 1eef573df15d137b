import { z } from "zod";
import type { AgentEvent } from "../events.js";
import type { Agent, AskOptions } from "./agent.js";
import { modelFlag, unlessGiven } from "./flags.js";
import { lineParser, optionalNumber, optionalText, toolEnd, toolStart } from "./read.js";

const PERMISSION_FLAGS = ["--yolo", "-y", "--approval-mode"];

export const gemini: Agent = {
  name: "gemini",
  reports: ["tokens"],
  takesModel: true,
  credentials: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  setup: {
    install: "npm install -g @google/gemini-cli",
    signIn: "gemini",
    loginFile: { variable: "GEMINI_CLI_HOME", folder: "", path: ".gemini/oauth_creds.json" },
    otherVariables: ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
    usesKeychain: false,
  },
  needs: {
    hosts: ["generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"],
    urlVariables: ["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"],
    state: [
      {
        variable: "GEMINI_CLI_HOME",
        folder: "",
        path: ".gemini",
        obeys: [
          "settings.json",
          "trustedFolders.json",
          "GEMINI.md",
          ".env",
          "agents",
          "commands",
          "extensions",
          "hooks",
          "policies",
          "skills",
          "tmp/bin",
        ],
        renews: ["oauth_creds.json"],
      },
    ],
  },
  command({ words, flags, mode, model, permissions, prompt }) {
    const [file = "gemini", ...extra] = words;
    const own = [...extra, ...flags];
    return {
      file,
      args: [
        ...unlessGiven(
          own,
          ["--output-format", "-o"],
          ["--output-format", mode === "stream" ? "stream-json" : "text"],
        ),
        ...modelFlag(own, model),
        ...unlessGiven(own, PERMISSION_FLAGS, permissionFlags(permissions)),
        // Without it Gemini ends at once in a folder that nobody has trusted by hand.
        ...(permissions === "ask" ? [] : unlessGiven(own, ["--skip-trust"], ["--skip-trust"])),
        ...own,
      ],
      stdin: prompt,
    };
  },
  parse: (line) => parseLine(line),
};

function permissionFlags(permissions: AskOptions["permissions"]): string[] {
  switch (permissions) {
    case "unattended":
    case "all":
      return ["--yolo"];
    case "edits":
      return ["--approval-mode", "auto_edit"];
    case "ask":
      return [];
  }
}

const Line = z.discriminatedUnion("type", [
  z.object({ type: z.literal("init"), session_id: optionalText }),
  z.object({
    type: z.literal("message"),
    role: z.string(),
    content: z.string(),
    delta: z.boolean().optional().catch(undefined),
  }),
  z.object({
    type: z.literal("tool_use"),
    tool_name: z.string(),
    tool_id: z.string(),
    parameters: z.unknown().optional(),
  }),
  z.object({
    type: z.literal("tool_result"),
    tool_id: z.string(),
    status: optionalText,
    output: optionalText,
    error: z.object({ message: optionalText }).optional().catch(undefined),
  }),
  z.object({ type: z.literal("error"), message: optionalText }),
  z.object({
    type: z.literal("result"),
    status: optionalText,
    error: z.object({ message: optionalText }).optional().catch(undefined),
    stats: z
      .object({ input_tokens: optionalNumber, output_tokens: optionalNumber, cached: optionalNumber })
      .optional()
      .catch(undefined),
  }),
]);

const parseLine = lineParser(Line, (line): AgentEvent[] => {
  switch (line.type) {
    case "init":
      return [{ type: "progress", message: `session ${line.session_id ?? ""}`.trim() }];
    case "message":
      if (line.role !== "assistant") {
        return [{ type: "progress", message: line.content.slice(0, 200), newTurn: true }];
      }
      return [{ type: "text", text: line.content, ...(line.delta === true && { delta: true as const }) }];
    case "tool_use":
      return [toolStart(line.tool_id, line.tool_name, line.parameters)];
    case "tool_result":
      return [toolEnd(line.tool_id, line.output ?? line.error?.message ?? "", line.status === "error")];
    case "error":
      return [{ type: "error", message: line.message ?? "error" }];
    case "result":
      return [result(line.status, line.error?.message, line.stats)];
  }
});

interface Stats {
  input_tokens?: number | undefined;
  output_tokens?: number | undefined;
  cached?: number | undefined;
}

function result(status: string | undefined, error: string | undefined, stats: Stats | undefined): AgentEvent {
  return {
    type: "result",
    ...(stats && {
      usage: {
        inputTokens: stats.input_tokens ?? 0,
        outputTokens: stats.output_tokens ?? 0,
        cacheReadTokens: stats.cached ?? 0,
        cacheWriteTokens: 0,
      },
    }),
    ...((status ?? "success") !== "success" && { error: error ?? status ?? "error" }),
  };
}
