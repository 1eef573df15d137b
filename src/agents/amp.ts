import { join } from "node:path";
import { z } from "zod";
import type { AgentEvent } from "../events.js";
import type { Agent, AgentCommand, AskOptions } from "./agent.js";
import { isGiven, unlessGiven } from "./flags.js";
import { assistantEvents, Message, parentId, tokens, Usage, userEvents } from "./messages.js";
import { lineParser, loose, optionalFlag, optionalText } from "./read.js";
import { inputAt } from "./screen.js";

const ALLOW_ALL = "--dangerously-allow-all";
const SETTINGS_FILE = "--settings-file";

export const amp: Agent = {
  name: "amp",
  probe: ["--help"],
  reports: ["tokens"],
  takesModel: false,
  credentials: ["AMP_API_KEY"],
  setup: {
    install: "npm install -g @sourcegraph/amp",
    signIn: "amp login",
    loginFile: { variable: "XDG_DATA_HOME", folder: ".local/share", path: "amp/secrets.json" },
    otherVariables: [],
    usesKeychain: false,
  },
  needs: {
    hosts: ["ampcode.com"],
    urlVariables: ["AMP_URL"],
    state: [
      { variable: "XDG_DATA_HOME", folder: ".local/share", path: "amp", renews: ["secrets.json"] },
      { variable: "XDG_CACHE_HOME", folder: ".cache", path: "amp", obeys: ["bin"] },
    ],
  },
  screen: {
    /** A box, and one line below; Claude Code had the same before 2.1. */
    input(lines) {
      if (!/^╰.*╯$/.test(lines.at(-2) ?? "")) return undefined;
      const state = inputAt(lines, lines.length, /esc to (?:cancel|interrupt)/i);
      return state.state === "waiting" || /^\s*\? for shortcuts/.test(lines.at(-1) ?? "") ? state : undefined;
    },
    dialogs: [],
    questions: [[/log in to amp/i, "Amp asks to sign in: run amp once by hand"]],
  },
  command(options) {
    const [file = "amp", ...extra] = options.words;
    const own = [...extra, ...options.flags];
    const allowed = permission(options, own);
    return {
      file,
      args: [
        ...(options.mode === "stream" ? unlessGiven(own, ["--stream-json"], ["--stream-json"]) : []),
        ...allowed.args,
        ...own,
        ...unlessGiven(own, ["-x", "--execute"], ["-x"]),
      ],
      ...(allowed.files && { files: allowed.files }),
      stdin: options.prompt,
    };
  },
  parse: (line) => parseLine(line),
};

/** Releases without the flag are told by a settings file. */
function permission(options: AskOptions, own: string[]): Pick<AgentCommand, "args" | "files"> {
  const unattended = options.permissions === "unattended" || options.permissions === "all";
  if (!unattended || isGiven(own, [ALLOW_ALL])) return { args: [] };
  if (options.help === "" || options.help.includes(ALLOW_ALL)) return { args: [ALLOW_ALL] };
  if (isGiven(own, [SETTINGS_FILE])) return { args: [] };
  const settings = join(options.scratch, "amp-settings.json");
  return {
    args: [SETTINGS_FILE, settings],
    files: { [settings]: JSON.stringify({ "amp.dangerouslyAllowAll": true }) },
  };
}

const Line = z.discriminatedUnion("type", [
  z.object({ type: z.literal("assistant"), message: Message, parent_tool_use_id: parentId }),
  z.object({ type: z.literal("user"), message: Message, parent_tool_use_id: parentId }),
  z.object({ type: z.literal("system"), subtype: optionalText, session_id: optionalText }),
  z.object({
    type: z.literal("result"),
    subtype: optionalText,
    is_error: optionalFlag,
    result: optionalText,
    error: optionalText,
    usage: loose(Usage),
  }),
]);

const parseLine = lineParser(Line, (line): AgentEvent[] => {
  switch (line.type) {
    case "assistant": {
      const { usage } = line.message;
      const spent: AgentEvent[] =
        usage === undefined ? [] : [{ type: "progress", message: "", usage: tokens(usage) }];
      return [...spent, ...assistantEvents(line.message, typeof line.parent_tool_use_id === "string")];
    }
    case "user":
      return userEvents(line.message, typeof line.parent_tool_use_id === "string");
    case "system":
      return [{ type: "progress", message: `session ${line.session_id ?? ""}`.trim() }];
    case "result": {
      // Amp exits 0 after a failure: only the result tells.
      const failed = line.is_error === true || (line.subtype ?? "success") !== "success";
      return [
        {
          type: "result",
          ...(line.result !== undefined && { text: line.result }),
          ...(line.usage && { usage: tokens(line.usage) }),
          ...(failed && { error: line.error || line.result || line.subtype || "error" }),
        },
      ];
    }
  }
});
