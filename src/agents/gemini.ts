import { z } from "zod";
import { type Agent, asksOnce, inputAt, isIndented, type Permissions, partsOf } from "./agent.js";
import { lineParser, maybe, on, session, toolEnd, toolStart } from "./read.js";

const PERMISSION_FLAGS: Record<Permissions, string[]> = {
  unattended: ["--yolo"],
  all: ["--yolo"],
  edits: ["--approval-mode", "auto_edit"],
  ask: [],
};

const OBEYS =
  "settings.json trustedFolders.json GEMINI.md .env agents commands extensions hooks policies skills tmp/bin";
const STATE = { variable: "GEMINI_CLI_HOME", folder: "" };

const failure = maybe.object({ message: maybe.text });
const stats = maybe.object(maybe.numbers("input_tokens", "output_tokens", "cached"));

export const gemini: Agent = {
  name: "gemini",
  reports: ["tokens"],
  takesModel: true,
  credentials: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  setup: {
    install: "npm install -g @google/gemini-cli",
    signIn: "gemini",
    loginFile: { ...STATE, path: ".gemini/oauth_creds.json" },
    otherVariables: ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
  },
  needs: {
    dockerTemplate: true,
    hosts: ["generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"],
    urlVariables: ["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"],
    state: [{ ...STATE, path: ".gemini", obeys: OBEYS.split(" "), renews: ["oauth_creds.json"] }],
  },
  screen: {
    input(lines) {
      const input = lines.findLastIndex((line) => /^[\s│]*[>*!]\s+Type your message/.test(line));
      if (input < 0 || !isIndented(lines.slice(input + 1))) return undefined;
      return inputAt(lines, input, /esc to cancel/i);
    },
    dialogs: asksOnce("Gemini", "gemini", [
      [/gemini cli to load|trust parent folder/i, "asks whether to trust this folder", "in it"],
      [/how would you like to authenticate/i, "asks to sign in"],
    ]),
  },
  firstMessage: (message) => ["--prompt-interactive", message],
  command(options) {
    const { mode, permissions, prompt } = options;
    const { file, own, ours, modelFlag } = partsOf(options);
    return {
      file,
      args: [
        ...ours(["--output-format", mode === "stream" ? "stream-json" : "text"], "-o"),
        ...modelFlag,
        ...ours(PERMISSION_FLAGS[permissions], "--yolo", "-y", "--approval-mode"),
        // Without it, Gemini exits at once in a folder that nobody has trusted by hand.
        ...(permissions === "ask" ? [] : ours(["--skip-trust"])),
        ...own,
      ],
      stdin: prompt,
    };
  },
  parse: lineParser({
    init: on({ session_id: maybe.text }, (line) => [session(line.session_id)]),
    message: on({ role: z.string(), content: z.string(), delta: maybe.flag }, ({ role, content, delta }) => [
      role === "assistant"
        ? { type: "text", text: content, ...(delta === true && { delta }) }
        : { type: "progress", message: content.slice(0, 200), newTurn: true },
    ]),
    tool_use: on(
      { tool_name: z.string(), tool_id: z.string(), parameters: z.unknown().optional() },
      (line) => [toolStart(line.tool_id, line.tool_name, line.parameters)],
    ),
    tool_result: on({ tool_id: z.string(), ...maybe.texts("status", "output"), error: failure }, (line) => [
      toolEnd(line.tool_id, line.output ?? line.error?.message ?? "", line.status === "error"),
    ]),
    error: on({ message: maybe.text }, ({ message = "error" }) => [{ type: "error", message }]),
    result: on({ status: maybe.text, error: failure, stats }, ({ stats, status = "success", error }) => {
      const { input_tokens: inputTokens = 0, output_tokens: outputTokens = 0, cached = 0 } = stats ?? {};
      const usage = { inputTokens, outputTokens, cacheReadTokens: cached, cacheWriteTokens: 0 };
      const failed = status !== "success" && { error: error?.message ?? status };
      return [{ type: "result", ...(stats && { usage }), ...failed }];
    }),
  }),
};
