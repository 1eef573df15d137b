import type { AgentScreen, Readiness } from "../agents/screen.js";

/** Reads the visible text of a screen, as `tmux capture-pane -p` gives it. Only its end counts. */
export function readiness(screen: string, agents: AgentScreen[]): Readiness {
  const lines = screen
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
  const asks = questionOnLastLine(lines, agents);
  if (asks !== undefined) return asks;
  for (const { input } of agents) {
    const found = input(lines);
    if (found !== undefined) return found;
  }
  if (isShellPrompt(lines.at(-1) ?? "")) return { state: "ready" };
  return dialog(lines, agents) ?? { state: "waiting" };
}

const SECRETS: [RegExp, string][] = [
  [/(?:password|passphrase)\b[^:]*:$/i, "it asks for a password: give it once by hand"],
  [/\b(?:api key|access token)\b[^:>]*[:>]$/i, "it asks for an API key: give it once by hand"],
];
/** `[Y/n]`, `(yes/no)`, `[(y)es, (n)o]`. */
const YES_OR_NO = /[[(]\(?y(?:\)?es)?\)?\s?[/,|]\s?\(?n(?:\)?o)?\)?.*[\])]\s*[?:>]*$/i;
const ASKS = /^\s*(?:please )?(?:enter|choose|select|pick|paste)\b.*[:>?]$/i;

/** A question on the line where the cursor is. */
function questionOnLastLine(lines: string[], agents: AgentScreen[]): Readiness | undefined {
  const last = lines.at(-1) ?? "";
  const all = [...agents.flatMap(({ questions = [] }) => questions), ...SECRETS];
  const why = all.find(([looks]) => looks.test(last))?.[1];
  if (why !== undefined) return blocked(why);
  return YES_OR_NO.test(last) || ASKS.test(last) ? asked(last) : undefined;
}

/** How many lines a dialog takes at most; what is further up is history. */
const TALLEST = 16;
/** The line that is chosen in a list. */
const CHOSEN = /^[\s│┃]*[❯›>●▸]\s*(?:\d+[.)]\s|✔\s|yes\b|no\b)/im;
const KEYS = /\b(?:enter|esc)\b|↑|arrow keys/i;
const PRESS = /\bpress (?:enter|return|any key)\b/i;

/** A list to choose from, or a page to confirm, at the end of the screen. */
function dialog(lines: string[], agents: AgentScreen[]): Readiness | undefined {
  const end = lines.slice(-TALLEST);
  const isList = CHOSEN.test(end.join("\n"));
  const words = end.join(" ").replace(/[\s│┃]+/g, " ");
  if (!isList && !KEYS.test(words)) return undefined;
  const why = agents.flatMap(({ dialogs }) => dialogs).find(([looks]) => looks.test(words))?.[1];
  if (why !== undefined) return blocked(why);
  if (isList && KEYS.test(words)) return asked(end.findLast((line) => /\?[\s│┃]*$/.test(line)) ?? "choose");
  const last = end.at(-1) ?? "";
  return PRESS.test(last) ? asked(last) : undefined;
}

function asked(line: string): Readiness {
  const words = line.replace(/^[\s│┃]+|[\s│┃]+$/g, "").slice(0, 100);
  return blocked(`it asks "${words}": answer once by hand`);
}

function blocked(why: string): Readiness {
  return { state: "blocked", why };
}

/** `host% `, `$ `, `>>> `: one word, or a sign that stands alone. */
const ONE_WORD = /^\S*[$#%>❯➜]$/;
const SIGN_ALONE = /[\s\])}][$#%>❯➜λ]$/;
/** `me@host ~/project (main)# `: the sign belongs to a place. */
const AFTER_A_PLACE = /^(?:[[(].*|.*[@~/\\].*)[$#%>]$/;
/** `➜  project git:(main) ✗ `: the sign comes first. */
const SIGN_FIRST = /^➜\s+\S+(?: git:\(\S+\))?(?: ✗)?$/;

/** A share, a price, a bar of progress, a tag, an arrow, an address. */
const NO_PROMPT =
  /(?:^|[\s([=:])[\d.,]+\s?%$|(?:^|\s)[\d.,]+\s?\$$|[#=\-.<]>$|##$|<[^<>]*>$|^[│┃╭╰─]|[,;]\s*\S$|:\/\//;

function isShellPrompt(line: string): boolean {
  if (SIGN_FIRST.test(line)) return true;
  if (line.length > 200 || NO_PROMPT.test(line)) return false;
  return [ONE_WORD, SIGN_ALONE, AFTER_A_PLACE].some((prompt) => prompt.test(line));
}
