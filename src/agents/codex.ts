import { join } from "node:path";
import { z } from "zod";
import type { AgentEvent, TokenUsage } from "../events.js";
import type { Agent, AskOptions, Permissions } from "./agent.js";
import { hookFlags, KNOWS_TRUST } from "./codex-hooks.js";
import { givenValue, isGiven, modelFlag, unlessGiven } from "./flags.js";
import { lineParser, loose, optionalNumber, optionalText, toolEnd, toolStart } from "./read.js";
import { type AgentScreen, inputAt, isIndented, withMore } from "./screen.js";

const FULL_AUTO = "--full-auto";
const BYPASS = "--dangerously-bypass-approvals-and-sandbox";
const WORKSPACE_WRITE = "workspace-write";
const PERMISSION_FLAGS = [FULL_AUTO, BYPASS, "--sandbox", "-s", "--yolo", "--approve-for-me"];

const isInput = (line: string): boolean => /^›(?:\s|$)/.test(line);

const screen: AgentScreen = {
  /** A line that begins with ›, and a footer below; a number after it is a choice in a list. */
  input(lines) {
    const input = lines.findLastIndex(isInput);
    const footer = lines.slice(input + 1);
    if (input < 0 || footer.length === 0 || !isIndented(footer)) return undefined;
    return /^› \d+\. /.test(lines[input] ?? "") ? undefined : inputAt(lines, input, /^\W.*esc to interrupt/);
  },
  dialogs: [
    [/paste or type your api key/i, "Codex asks for an API key: run codex once by hand"],
    [
      /sign in with chatgpt|choose how you want to use codex/i,
      "Codex asks to sign in: run codex once by hand",
    ],
    [
      /trust this folder\? codex|trust the contents of this directory|trust and continue/i,
      "Codex asks whether to trust this folder: run codex in it once by hand",
    ],
    [/update now \(runs/i, "Codex asks whether to update: run codex once by hand"],
    [/try new model/i, "Codex asks whether to change the model: run codex once by hand"],
  ],
  /** `■ You’ve hit your usage limit. …`: all that the model or a tool writes is indented, or has another mark. */
  ownLine(lines) {
    const above = lines.slice(0, Math.max(0, lines.findLastIndex(isInput)));
    const end = above.findLastIndex((line) => line !== "") + 1;
    const start = above.slice(0, end).lastIndexOf("") + 1;
    const [first = "", ...more] = above.slice(start, end);
    return /^■ /.test(first) ? withMore([first.slice(2), ...more], /^[^\s•›■]/) : undefined;
  },
};

export const codex: Agent = {
  name: "codex",
  probe: ["exec", "--help"],
  reports: ["tokens"],
  takesModel: true,
  credentials: ["CODEX_API_KEY", "OPENAI_API_KEY"],
  setup: {
    install: "npm install -g @openai/codex",
    signIn: "codex login",
    loginFile: { variable: "CODEX_HOME", folder: ".codex", path: "auth.json" },
    otherVariables: [],
    usesKeychain: false,
  },
  hooks: { areIn: (help) => help.includes(KNOWS_TRUST) },
  screen,
  firstMessage: (message) => [message],
  needs: {
    hosts: ["api.openai.com", "chatgpt.com", "auth.openai.com"],
    urlVariables: ["OPENAI_BASE_URL"],
    settings: { file: "config.toml", urls: providerUrls },
    state: [
      {
        variable: "CODEX_HOME",
        folder: ".codex",
        path: "",
        obeys: [
          "config.toml",
          "AGENTS.md",
          "AGENTS.override.md",
          "hooks.json",
          ".env",
          "agents",
          "prompts",
          "rules",
          "skills",
          "plugins",
          "packages",
        ],
        renews: ["auth.json"],
      },
    ],
  },
  command(options) {
    const [file = "codex", ...extra] = options.words;
    const rest = extra[0] === "exec" || extra[0] === "e" ? extra.slice(1) : extra;
    const own = [...rest, ...options.flags];
    const answerFile = givenValue(own, ["-o", "--output-last-message"]);
    const ownAnswerFile = answerFile ?? join(options.scratch, "answer.txt");
    return {
      file,
      args: [
        "exec",
        ...(options.mode === "stream" ? unlessGiven(own, ["--json"], ["--json"]) : []),
        ...(options.mode === "text" && answerFile === undefined ? ["-o", ownAnswerFile] : []),
        ...modelFlag(own, options.model),
        ...unlessGiven(own, PERMISSION_FLAGS, permissionFlags(options)),
        ...commitFlags(own, options),
        ...(options.inRepository ? [] : unlessGiven(own, [NO_REPOSITORY], [NO_REPOSITORY])),
        ...hookFlags(own, options.hooks),
        ...own,
        "-",
      ],
      stdin: options.prompt,
      ...(options.hooks && { env: options.hooks.env }),
      ...(options.mode === "text" && { answerFile: ownAnswerFile }),
    };
  },
  parse: (line) => parseLine(line),
};

/** Outside a git repository Codex refuses to start without it. */
const NO_REPOSITORY = "--skip-git-repo-check";

function permissionFlags({ permissions, help }: AskOptions): string[] {
  // Releases that list the old flag want it; today's refuse it.
  const shutIn = help.includes(FULL_AUTO) ? [FULL_AUTO] : ["--sandbox", WORKSPACE_WRITE];
  const flags: Record<Permissions, string[]> = { all: [BYPASS], unattended: shutIn, edits: shutIn, ask: [] };
  return flags[permissions];
}

/** Addresses that Codex asks by its own settings, `config.toml`: of model providers, and of nothing else in there. */
function providerUrls(settings: string): string[] {
  let section = "";
  return settings.split("\n").flatMap((line) => {
    section = /^\s*\[+\s*([^\]]*)/.exec(line)?.[1] ?? section;
    const [, name = "", url = ""] = /^\s*(\w+)\s*=\s*["']([^"']*)["']/.exec(line) ?? [];
    return isProvider(section, name) ? [url] : [];
  });
}

function isProvider(section: string, name: string): boolean {
  if (/^model_providers\s*\./.test(section)) return name === "base_url";
  return /^(profiles\s*\..*)?$/.test(section) && /^(openai|chatgpt)_base_url$/.test(name);
}

const ADD_FOLDER = "--add-dir";

/** In its sandbox `.git` can't be written, and nothing can be committed. */
function commitFlags(own: string[], { permissions, help, gitFolders = [] }: AskOptions): string[] {
  const isShutIn = isGiven(own, PERMISSION_FLAGS)
    ? isGiven(own, [FULL_AUTO]) || givenValue(own, ["--sandbox", "-s"]) === WORKSPACE_WRITE
    : permissions === "unattended" || permissions === "edits";
  if (!isShutIn || !help.includes(ADD_FOLDER)) return [];
  return gitFolders.flatMap((folder) => [ADD_FOLDER, folder]);
}

const Item = z.object({
  id: optionalText,
  type: z.string(),
  text: optionalText,
  message: optionalText,
  command: optionalText,
  aggregated_output: optionalText,
  exit_code: z.number().nullish().catch(undefined),
  status: optionalText,
  changes: loose(z.array(z.object({ path: z.string(), kind: optionalText }))),
  items: loose(z.array(z.object({ text: z.string(), completed: z.boolean() }))),
  server: optionalText,
  tool: optionalText,
  query: optionalText,
});
type Item = z.infer<typeof Item>;

const Usage = z.object({
  input_tokens: optionalNumber,
  cached_input_tokens: optionalNumber,
  cache_write_input_tokens: optionalNumber,
  output_tokens: optionalNumber,
});

const Line = z.discriminatedUnion("type", [
  z.object({ type: z.literal("thread.started"), thread_id: optionalText }),
  z.object({ type: z.literal("turn.started") }),
  z.object({
    type: z.literal("turn.completed"),
    usage: loose(Usage),
  }),
  z.object({
    type: z.literal("turn.failed"),
    error: loose(z.object({ message: optionalText })),
  }),
  z.object({ type: z.literal("error"), message: optionalText }),
  z.object({ type: z.literal("item.started"), item: Item }),
  z.object({ type: z.literal("item.updated"), item: Item }),
  z.object({ type: z.literal("item.completed"), item: Item }),
]);

const parseLine = lineParser(Line, (line): AgentEvent[] => {
  switch (line.type) {
    case "thread.started":
      return [{ type: "progress", message: `session ${line.thread_id ?? ""}`.trim() }];
    case "turn.started":
      return [{ type: "progress", message: "turn started", newTurn: true }];
    case "turn.completed":
      return [{ type: "result", ...(line.usage && { usage: usageOf(line.usage) }) }];
    case "turn.failed":
      return [{ type: "result", error: line.error?.message ?? "the turn failed" }];
    case "error":
      return [{ type: "error", message: line.message ?? "error" }];
    case "item.started":
      return startedItem(line.item);
    case "item.updated":
      return line.item.type === "todo_list" ? todo(line.item) : [];
    case "item.completed":
      return completedItem(line.item);
  }
});

function startedItem(item: Item): AgentEvent[] {
  if (item.type === "todo_list") return todo(item);
  const tool = toolOf(item);
  return tool === undefined ? [] : [toolStart(item.id ?? "", tool.name, tool.input)];
}

function completedItem(item: Item): AgentEvent[] {
  switch (item.type) {
    case "agent_message":
      // A command that its sandbox refused leaves no trace between two messages: only the last one is final.
      return [{ type: "text", text: item.text ?? "", message: item.id ?? "" }];
    case "reasoning":
      return [{ type: "progress", message: item.text ?? "" }];
    case "error":
      return [{ type: "error", message: item.message ?? "error" }];
    case "todo_list":
      return todo(item);
    default: {
      if (toolOf(item) === undefined) return [];
      const failed = item.status === "failed" || (typeof item.exit_code === "number" && item.exit_code !== 0);
      return [toolEnd(item.id ?? "", item.aggregated_output ?? changesOf(item), failed)];
    }
  }
}

function toolOf(item: Item): { name: string; input: string } | undefined {
  switch (item.type) {
    case "command_execution":
      return { name: "Bash", input: item.command ?? "" };
    case "file_change":
      return { name: "Edit", input: changesOf(item) };
    case "mcp_tool_call":
      return { name: [item.server, item.tool].filter(Boolean).join("."), input: "" };
    case "web_search":
      return { name: "WebSearch", input: item.query ?? "" };
    default:
      return undefined;
  }
}

function changesOf({ changes }: Item): string {
  return (changes ?? []).map(({ path, kind }) => (kind ? `${kind} ${path}` : path)).join("\n");
}

function todo({ items }: Item): AgentEvent[] {
  const all = items ?? [];
  const active = all.findIndex(({ completed }) => !completed);
  return [
    {
      type: "todo",
      items: all.map(({ text, completed }, index) => ({
        text,
        status: completed ? "completed" : index === active ? "in_progress" : "pending",
      })),
    },
  ];
}

function usageOf(usage: z.infer<typeof Usage>): TokenUsage {
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens: usage.cached_input_tokens ?? 0,
    cacheWriteTokens: usage.cache_write_input_tokens ?? 0,
  };
}
