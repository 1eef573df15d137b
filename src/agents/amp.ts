import { join } from "node:path";
import { type Agent, asksOnce, inputAt, isGiven, partsOf } from "./agent.js";
import {
  assistantEvents,
  ending,
  lineParser,
  maybe,
  on,
  resultEvent,
  session,
  spoken,
  tokens,
  userEvents,
} from "./read.js";

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
    /** A box, and one line below it; Claude Code before 2.1 had the same. */
    input(lines) {
      if (!/^╰.*╯$/.test(lines.at(-2) ?? "")) return undefined;
      const state = inputAt(lines, lines.length, /esc to (?:cancel|interrupt)/i);
      return state.state === "waiting" || /^\s*\? for shortcuts/.test(lines.at(-1) ?? "") ? state : undefined;
    },
    dialogs: [],
    questions: asksOnce("Amp", "amp", [[/log in to amp/i, "asks to sign in"]]),
  },
  command(options) {
    const { mode, help, scratch, prompt } = options;
    const { file, own, ours, isUnattended } = partsOf(options);
    const knowsFlag = help === "" || help.includes(ALLOW_ALL);
    // Releases without the flag read this from a settings file.
    const settings = join(scratch, "amp-settings.json");
    const needsFile = isUnattended && !knowsFlag && !isGiven(own, [ALLOW_ALL, SETTINGS_FILE]);
    return {
      file,
      args: [
        ...(mode === "stream" ? ours(["--stream-json"]) : []),
        ...(isUnattended && knowsFlag ? ours([ALLOW_ALL]) : []),
        ...(needsFile ? [SETTINGS_FILE, settings] : []),
        ...own,
        ...ours(["-x"], "--execute"),
      ],
      ...(needsFile && { files: { [settings]: JSON.stringify({ "amp.dangerouslyAllowAll": true }) } }),
      stdin: prompt,
    };
  },
  parse: lineParser({
    assistant: on(spoken, (line) => {
      const { usage } = line.message;
      if (usage === undefined) return assistantEvents(line);
      return [{ type: "progress", message: "", usage: tokens(usage) }, ...assistantEvents(line)];
    }),
    user: on(spoken, userEvents),
    system: on({ session_id: maybe.text }, (line) => [session(line.session_id)]),
    // Amp exits 0 after a failure: only the result says so.
    result: on({ ...ending, error: maybe.text }, (line) => [resultEvent(line, line.error || line.result)]),
  }),
};
