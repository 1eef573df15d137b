import { createHash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import type { AgentEvent, TodoItem } from "../events.js";
import { quoteWord } from "../words.js";
import {
  type Agent,
  asksOnce,
  givenValue,
  inputAt,
  isGiven,
  isIndented,
  type LoopHook,
  type LoopHooks,
  type Permissions,
  partsOf,
  withMore,
} from "./agent.js";
import { lineParser, maybe, on, session, toolEnd, toolStart } from "./read.js";

const FULL_AUTO = "--full-auto";
const BYPASS = "--dangerously-bypass-approvals-and-sandbox";
const WORKSPACE_WRITE = "workspace-write";
const ADD_FOLDER = "--add-dir";
const PERMISSION_FLAGS = [FULL_AUTO, BYPASS, "--sandbox", "-s", "--yolo", "--approve-for-me"];

const isInput = (line: string): boolean => /^›(?:\s|$)/.test(line);

/** Part of the help in releases that ask whether to trust a hook. */
const KNOWS_TRUST = "hook-trust";
/** Without it, Codex refuses to start outside a git repository. */
const NO_REPOSITORY = "--skip-git-repo-check";
const OBEYS =
  "config.toml AGENTS.md AGENTS.override.md hooks.json .env agents prompts rules skills plugins packages";

const Item = z.object({
  type: z.string(),
  ...maybe.texts("id", "text", "message", "command", "aggregated_output"),
  ...maybe.texts("status", "server", "tool", "query"),
  exit_code: maybe.code,
  changes: maybe.list(z.object({ path: z.string(), kind: maybe.text })),
  items: maybe.list(z.object({ text: z.string(), completed: z.boolean() })),
});
type Item = z.infer<typeof Item>;

const Usage = maybe.of(
  z
    .object(maybe.numbers("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"))
    .transform((usage) => ({
      inputTokens: usage.input_tokens ?? 0,
      outputTokens: usage.output_tokens ?? 0,
      cacheReadTokens: usage.cached_input_tokens ?? 0,
      cacheWriteTokens: usage.cache_write_input_tokens ?? 0,
    })),
);

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
  },
  hooks: { areIn: (help) => help.includes(KNOWS_TRUST) },
  screen: {
    /** A line that begins with ›, with a footer below; a number after › is a choice in a list. */
    input(lines) {
      const input = lines.findLastIndex(isInput);
      const footer = lines.slice(input + 1);
      if (input < 0 || footer.length === 0 || !isIndented(footer)) return undefined;
      return /^› \d+\. /.test(lines[input] ?? "")
        ? undefined
        : inputAt(lines, input, /^\W.*esc to interrupt/);
    },
    dialogs: asksOnce("Codex", "codex", [
      [/paste or type your api key/i, "asks for an API key"],
      [/sign in with chatgpt|choose how you want to use codex/i, "asks to sign in"],
      [
        /trust this folder\? codex|trust the contents of this directory|trust and continue/i,
        "asks whether to trust this folder",
        "in it",
      ],
      [/update now \(runs/i, "asks whether to update"],
      [/try new model/i, "asks whether to change the model"],
    ]),
    /** `■ You’ve hit your usage limit. …`: what the model or a tool writes is indented or marked. */
    ownLine(lines) {
      const above = lines.slice(0, Math.max(0, lines.findLastIndex(isInput)));
      const end = above.findLastIndex((line) => line !== "") + 1;
      const start = above.slice(0, end).lastIndexOf("") + 1;
      const [first = "", ...more] = above.slice(start, end);
      return /^■ /.test(first) ? withMore([first.slice(2), ...more], /^[^\s•›■]/) : undefined;
    },
  },
  firstMessage: (message) => [message],
  needs: {
    dockerTemplate: true,
    hosts: ["api.openai.com", "chatgpt.com", "auth.openai.com"],
    urlVariables: ["OPENAI_BASE_URL"],
    settings: { file: "config.toml", urls: providerUrls },
    state: [
      { variable: "CODEX_HOME", folder: ".codex", path: "", obeys: OBEYS.split(" "), renews: ["auth.json"] },
    ],
  },
  command(options) {
    const { mode, scratch, inRepository, hooks, help, gitFolders = [] } = options;
    const { file, own, ours, modelFlag } = partsOf(options, /^e(?:xec)?$/);
    const isText = mode === "text";
    const givenFile = givenValue(own, ["-o", "--output-last-message"]);
    const answerFile = givenFile ?? join(scratch, "answer.txt");
    // Releases that list the old flag need it; newer ones refuse it.
    const shutIn = help.includes(FULL_AUTO) ? [FULL_AUTO] : ["--sandbox", WORKSPACE_WRITE];
    const flags: Record<Permissions, string[]> = {
      all: [BYPASS],
      unattended: shutIn,
      edits: shutIn,
      ask: [],
    };
    const permissions = ours(flags[options.permissions], ...PERMISSION_FLAGS);
    // Its sandbox makes `.git` read-only, so it could not commit.
    const all = [...permissions, ...own];
    const isShutIn = isGiven(all, [FULL_AUTO]) || givenValue(all, ["--sandbox", "-s"]) === WORKSPACE_WRITE;
    const folders = isShutIn && help.includes(ADD_FOLDER) ? gitFolders : [];
    return {
      file,
      args: [
        "exec",
        ...(isText ? [] : ours(["--json"])),
        ...(isText && givenFile === undefined ? ["-o", answerFile] : []),
        ...modelFlag,
        ...permissions,
        ...folders.flatMap((folder) => [ADD_FOLDER, folder]),
        ...(inRepository ? [] : ours([NO_REPOSITORY])),
        ...hookFlags(own, hooks),
        ...own,
        "-",
      ],
      stdin: options.prompt,
      ...(hooks && { env: hooks.env }),
      ...(isText && { answerFile }),
    };
  },
  parse: lineParser({
    "thread.started": on({ thread_id: maybe.text }, (line) => [session(line.thread_id)]),
    "turn.started": on({}, () => [{ type: "progress", message: "turn started", newTurn: true }]),
    "turn.completed": on({ usage: Usage }, ({ usage }) => [{ type: "result", ...(usage && { usage }) }]),
    "turn.failed": on({ error: maybe.object({ message: maybe.text }) }, ({ error }) => [
      { type: "result", error: error?.message ?? "the turn failed" },
    ]),
    error: on({ message: maybe.text }, ({ message = "error" }) => [{ type: "error", message }]),
    "item.started": on({ item: Item }, ({ item }) => itemEvents(item, "started")),
    "item.updated": on({ item: Item }, ({ item }) => itemEvents(item, "updated")),
    "item.completed": on({ item: Item }, ({ item }) => itemEvents(item, "completed")),
  }),
};

/** Addresses of model providers in its settings, `config.toml`. */
function providerUrls(settings: string): string[] {
  return settings.split(/^(?=\s*\[)/m).flatMap((section) => {
    const name = /^\s*\[+\s*model_providers\s*\./.test(section) ? "base_url" : "(?:openai|chatgpt)_base_url";
    const urls = section.matchAll(new RegExp(`^\\s*${name}\\s*=\\s*["']([^"']*)["']`, "gm"));
    return [...urls].map(([, url = ""]) => url);
  });
}

/** Codex reports hooks from `-c` under this file name. */
const SOURCE = "/<session-flags>/config.toml";

const LABELS: Record<LoopHook["event"], string> = {
  Stop: "stop",
  PreToolUse: "pre_tool_use",
  PostToolUse: "post_tool_use",
};

/** The loop's hooks, unless the user sets hooks. Trusted by digest, so that the repository's are not. */
function hookFlags(own: string[], wiring: LoopHooks | undefined): string[] {
  if (wiring === undefined || own.some((flag) => /^(-c|--config)?=?hooks[.=]/.test(flag))) return [];
  // A JSON string is also a TOML string.
  const text = JSON.stringify;
  const states: string[] = [];
  const hooks = wiring.hooks.map(({ event, command, timeoutSeconds: timeout }) => {
    const line = command.map(quoteWord).join(" ");
    // Codex computes the digest over the hook as JSON with sorted keys.
    const handler = { async: false, command: line, timeout, type: "command" };
    const identity = text({ event_name: LABELS[event], hooks: [handler] });
    const digest = createHash("sha256").update(identity).digest("hex");
    states.push(`${text(`${SOURCE}:${LABELS[event]}:0:0`)}={trusted_hash="sha256:${digest}"}`);
    return `hooks.${event}=[{hooks=[{type="command",command=${text(line)},timeout=${timeout}}]}]`;
  });
  return [...hooks, `hooks.state={${states.join(",")}}`].flatMap((setting) => ["-c", setting]);
}

function itemEvents(item: Item, step: "started" | "updated" | "completed"): AgentEvent[] {
  if (item.type === "todo_list") return [todo(item)];
  const { id = "", text = "" } = item;
  const tool = TOOLS.get(item.type)?.(item);
  if (tool !== undefined && step === "started") return [toolStart(id, ...tool)];
  if (step !== "completed") return [];
  if (tool !== undefined) {
    const failed = item.status === "failed" || (typeof item.exit_code === "number" && item.exit_code !== 0);
    return [toolEnd(id, item.aggregated_output ?? changesOf(item), failed)];
  }
  // A command that the sandbox refused leaves no trace between two messages: only the last message is final.
  if (item.type === "agent_message") return [{ type: "text", text, message: id }];
  if (item.type === "reasoning") return [{ type: "progress", message: text }];
  return item.type === "error" ? [{ type: "error", message: item.message ?? "error" }] : [];
}

const TOOLS = new Map<string, (item: Item) => [name: string, input: string]>([
  ["command_execution", ({ command = "" }) => ["Bash", command]],
  ["file_change", (item) => ["Edit", changesOf(item)]],
  ["mcp_tool_call", ({ server, tool }) => [[server, tool].filter(Boolean).join("."), ""]],
  ["web_search", ({ query = "" }) => ["WebSearch", query]],
]);

function changesOf({ changes = [] }: Item): string {
  return changes.map(({ path, kind }) => (kind ? `${kind} ${path}` : path)).join("\n");
}

function todo({ items = [] }: Item): AgentEvent {
  const active = items.findIndex(({ completed }) => !completed);
  const statusOf = (completed: boolean, index: number): TodoItem["status"] =>
    completed ? "completed" : index === active ? "in_progress" : "pending";
  return {
    type: "todo",
    items: items.map(({ text, completed }, index) => ({ text, status: statusOf(completed, index) })),
  };
}
