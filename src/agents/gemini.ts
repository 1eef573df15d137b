import { z } from "zod";
import type { AgentEvent, TokenUsage } from "../events.js";
import type { Agent, Permissions } from "./agent.js";
import { modelFlag, unlessGiven } from "./flags.js";
import { lineParser, loose, optionalFlag, optionalNumber, optionalText, toolEnd, toolStart } from "./read.js";
import { inputAt, isIndented } from "./screen.js";

const PERMISSION_FLAGS: Record<Permissions, string[]> = {
  unattended: ["--yolo"],
  all: ["--yolo"],
  edits: ["--approval-mode", "auto_edit"],
  ask: [],
};

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
  screen: {
    input(lines) {
      const input = lines.findLastIndex((line) => /^[\s│]*[>*!]\s+Type your message/.test(line));
      if (input < 0 || !isIndented(lines.slice(input + 1))) return undefined;
      return inputAt(lines, input, /esc to cancel/i);
    },
    dialogs: [
      [
        /gemini cli to load|trust parent folder/i,
        "Gemini asks whether to trust this folder: run gemini in it once by hand",
      ],
      [/how would you like to authenticate/i, "Gemini asks to sign in: run gemini once by hand"],
    ],
  },
  firstMessage: (message) => ["--prompt-interactive", message],
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
        ...unlessGiven(own, ["--yolo", "-y", "--approval-mode"], PERMISSION_FLAGS[permissions]),
        // Without it Gemini ends at once in a folder that nobody has trusted by hand.
        ...(permissions === "ask" ? [] : unlessGiven(own, ["--skip-trust"], ["--skip-trust"])),
        ...own,
      ],
      stdin: prompt,
    };
  },
  parse: (line) => parseLine(line),
};

const Stats = z.object({
  input_tokens: optionalNumber,
  output_tokens: optionalNumber,
  cached: optionalNumber,
});

const Line = z.discriminatedUnion("type", [
  z.object({ type: z.literal("init"), session_id: optionalText }),
  z.object({
    type: z.literal("message"),
    role: z.string(),
    content: z.string(),
    delta: optionalFlag,
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
    error: loose(z.object({ message: optionalText })),
  }),
  z.object({ type: z.literal("error"), message: optionalText }),
  z.object({
    type: z.literal("result"),
    status: optionalText,
    error: loose(z.object({ message: optionalText })),
    stats: loose(Stats),
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
    case "result": {
      const failed = (line.status ?? "success") !== "success";
      return [
        {
          type: "result",
          ...(line.stats && { usage: usageOf(line.stats) }),
          ...(failed && { error: line.error?.message ?? line.status ?? "error" }),
        },
      ];
    }
  }
});

function usageOf({ input_tokens = 0, output_tokens = 0, cached = 0 }: z.infer<typeof Stats>): TokenUsage {
  return {
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
  };
}
