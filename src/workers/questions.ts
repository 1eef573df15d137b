import type { Look, Readiness } from "./ready.js";

type Question = [looks: RegExp, why: string];

const LAST_LINE: Question[] = [
  [/paste code here/i, "Claude Code asks to sign in: run claude once by hand"],
  [/log in to amp/i, "Amp asks to sign in: run amp once by hand"],
  [/(?:password|passphrase)\b[^:]*:$/i, "it asks for a password: give it once by hand"],
  [/\b(?:api key|access token)\b[^:>]*[:>]$/i, "it asks for an API key: give it once by hand"],
];

/** `[Y/n]`, `(yes/no)`, `[(y)es, (n)o]`. */
const YES_OR_NO = /[[(]\(?y(?:\)?es)?\)?\s?[/,|]\s?\(?n(?:\)?o)?\)?.*[\])]\s*[?:>]*$/i;
const ASKS = /^\s*(?:please )?(?:enter|choose|select|pick|paste)\b.*[:>?]$/i;

/** A question on the line where the cursor is. */
export const questionOnLastLine: Look = (lines) => {
  const last = lines.at(-1) ?? "";
  const why = LAST_LINE.find(([looks]) => looks.test(last))?.[1];
  if (why !== undefined) return blocked(why);
  return YES_OR_NO.test(last) || ASKS.test(last) ? asked(last) : undefined;
};

const DIALOGS: Question[] = [
  [/choose the text style|syntax theme:/i, "Claude Code asks for a theme: run claude once by hand"],
  [/select login method|url below to sign in/i, "Claude Code asks to sign in: run claude once by hand"],
  [
    /detected a custom api key/i,
    "Claude Code asks whether to use ANTHROPIC_API_KEY: run claude once by hand",
  ],
  [
    /bypass permissions mode/i,
    "Claude Code warns of its bypass-permissions mode: run claude with it once by hand and accept",
  ],
  [/security notes:/i, "Claude Code shows its security notes: run claude once by hand"],
  [
    /gemini cli to load|trust parent folder/i,
    "Gemini asks whether to trust this folder: run gemini in it once by hand",
  ],
  [/how would you like to authenticate/i, "Gemini asks to sign in: run gemini once by hand"],
  [/paste or type your api key/i, "Codex asks for an API key: run codex once by hand"],
  [/sign in with chatgpt|choose how you want to use codex/i, "Codex asks to sign in: run codex once by hand"],
  [
    /trust this folder\? codex|trust the contents of this directory|trust and continue/i,
    "Codex asks whether to trust this folder: run codex in it once by hand",
  ],
  [/update now \(runs/i, "Codex asks whether to update: run codex once by hand"],
  [/try new model/i, "Codex asks whether to change the model: run codex once by hand"],
  [/connect a provider/i, "OpenCode asks for a provider: run opencode once by hand"],
  [
    /i trust this folder|trust the files in this folder/i,
    "Claude Code asks whether to trust this folder: run claude in it once by hand",
  ],
  [/would you like to update/i, "OpenCode asks whether to update: run opencode once by hand"],
];

/** How many lines a dialog takes at most; what is further up is history. */
const TALLEST = 16;
/** The line that is chosen in a list. */
const CHOSEN = /^[\s│┃]*[❯›>●▸]\s*(?:\d+[.)]\s|✔\s|yes\b|no\b)/im;
const KEYS = /\b(?:enter|esc)\b|↑|arrow keys/i;
const PRESS = /\bpress (?:enter|return|any key)\b/i;

/** A list to choose from, or a page to confirm, at the end of the screen. */
export const dialog: Look = (lines) => {
  const end = lines.slice(-TALLEST);
  const isList = CHOSEN.test(end.join("\n"));
  const words = end.join(" ").replace(/[\s│┃]+/g, " ");
  if (!isList && !KEYS.test(words)) return undefined;
  const why = DIALOGS.find(([looks]) => looks.test(words))?.[1];
  if (why !== undefined) return blocked(why);
  if (isList && KEYS.test(words)) return asked(end.findLast((line) => /\?[\s│┃]*$/.test(line)) ?? "choose");
  const last = end.at(-1) ?? "";
  return PRESS.test(last) ? asked(last) : undefined;
};

function asked(line: string): Readiness {
  const words = line.replace(/^[\s│┃]+|[\s│┃]+$/g, "").slice(0, 100);
  return blocked(`it asks "${words}": answer once by hand`);
}

function blocked(why: string): Readiness {
  return { state: "blocked", why };
}
