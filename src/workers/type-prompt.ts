import { setTimeout as sleep } from "node:timers/promises";
import type { AgentScreen, Readiness } from "../agents/agent.js";
import { allAgents } from "../agents/index.js";
import type { Terminal } from "../ask/run-on-terminal.js";
import { elapsed } from "../elapsed.js";

type Keyboard = Pick<Terminal, "screen" | "type">;

const POLL_MS = 250;
const READY_MS = 30_000;
/** Some programs show their input for a moment before they ask a question. */
const POLLS_READY = 3;
const POLLS_AFTER = 12;
/** How long an unknown screen must stay unchanged before ralph types the prompt. */
const QUIET_MS = 2000;
const QUIET = `ralph does not know this screen: after ${READY_MS / 1000} s the prompt is typed to it`;

export interface TypingOptions {
  /** Called when ralph types the prompt into a program that may not be ready. */
  warn(text: string): void;
  readyMs?: number;
}

/** Types a prompt when the program is ready. Returns why that is impossible, if it is. */
export async function typePrompt(
  terminal: Keyboard,
  prompt: string,
  stop: AbortSignal,
  { warn, readyMs = READY_MS }: TypingOptions,
): Promise<string | undefined> {
  const screens = (await allAgents()).flatMap(({ screen }) => screen ?? []);
  const why = await untilReady(terminal, screens, stop, { warn, readyMs });
  if (why !== undefined) return why;
  await terminal.type(prompt);
  for (let polls = 0; polls < POLLS_AFTER && !stop.aborted; polls += 1) {
    await pause(stop);
    const screen = await terminal.screen();
    if (screen === undefined) return undefined;
    const found = readiness(screen, screens);
    if (found.state === "blocked") return found.why;
  }
  return undefined;
}

async function untilReady(
  terminal: Keyboard,
  screens: AgentScreen[],
  stop: AbortSignal,
  { warn, readyMs }: Required<TypingOptions>,
): Promise<string | undefined> {
  const begun = elapsed();
  const stillSince = watchChanges();
  let ready = 0;
  for (let now = begun; now < begun + 2 * readyMs; now = elapsed()) {
    const screen = await terminal.screen();
    if (screen === undefined) return "it ended before it was ready";
    const found = readiness(screen, screens);
    if (found.state === "blocked") return found.why;
    ready = found.state === "ready" ? ready + 1 : 0;
    if (ready === POLLS_READY) return undefined;
    const quietFrom = Math.max(begun + readyMs, stillSince(screen, now) + Math.min(QUIET_MS, readyMs));
    const isKnown = ready > 0 || "isBusy" in found;
    if (now >= quietFrom && !isKnown) return void warn(QUIET);
    await pause(stop);
    if (stop.aborted) return "it was stopped before it was ready";
  }
  return `it was not ready to be typed to within ${(2 * readyMs) / 1000} s`;
}

/** Returns since when the screen has not changed. */
function watchChanges(): (screen: string, now: number) => number {
  let [seen, changed] = ["", 0];
  return (screen, now) => {
    if (screen !== seen) [seen, changed] = [screen, now];
    return changed;
  };
}

async function pause(stop: AbortSignal): Promise<void> {
  await sleep(POLL_MS, undefined, { signal: stop }).catch(() => {});
}

/** Judges the visible text of a screen, as `tmux capture-pane -p` prints it. Only its end counts. */
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
  return isShellPrompt(lines.at(-1) ?? "") ? { state: "ready" } : dialog(lines, agents);
}

const SECRETS: [RegExp, string][] = [
  [/(?:password|passphrase)\b[^:]*:$/i, "it asks for a password: enter it once by hand"],
  [/\b(?:api key|access token)\b[^:>]*[:>]$/i, "it asks for an API key: enter it once by hand"],
];
/** `[Y/n]`, `(yes/no)`, `[(y)es, (n)o]`. */
const YES_OR_NO = /[[(]\(?y(?:\)?es)?\)?\s?[/,|]\s?\(?n(?:\)?o)?\)?.*[\])]\s*[?:>]*$/i;
const ASKS = /^\s*(?:please )?(?:enter|choose|select|pick|paste)\b.*[:>?]$/i;

function questionOnLastLine(lines: string[], agents: AgentScreen[]): Readiness | undefined {
  const last = lines.at(-1) ?? "";
  const all = [...agents.flatMap(({ questions = [] }) => questions), ...SECRETS];
  const why = all.find(([looks]) => looks.test(last))?.[1];
  if (why !== undefined) return { state: "blocked", why };
  return YES_OR_NO.test(last) || ASKS.test(last) ? asked(last) : undefined;
}

/** The most lines of a dialog; anything above is history. */
const TALLEST = 16;
const CHOSEN = /^[\s│┃]*[❯›>●▸]\s*(?:\d+[.)]\s|✔\s|yes\b|no\b)/im;
const KEYS = /\b(?:enter|esc)\b|↑|arrow keys/i;
const PRESS = /\bpress (?:enter|return|any key)\b/i;

/** A list of choices, or a page to confirm, at the end of the screen. */
function dialog(lines: string[], agents: AgentScreen[]): Readiness {
  const end = lines.slice(-TALLEST);
  const isList = CHOSEN.test(end.join("\n"));
  const words = end.join(" ").replace(/[\s│┃]+/g, " ");
  if (!isList && !KEYS.test(words)) return { state: "waiting" };
  const why = agents.flatMap(({ dialogs }) => dialogs).find(([looks]) => looks.test(words))?.[1];
  if (why !== undefined) return { state: "blocked", why };
  if (isList && KEYS.test(words)) return asked(end.findLast((line) => /\?[\s│┃]*$/.test(line)) ?? "choose");
  const last = end.at(-1) ?? "";
  return PRESS.test(last) ? asked(last) : { state: "waiting" };
}

function asked(line: string): Readiness {
  const words = line.replace(/^[\s│┃]+|[\s│┃]+$/g, "").slice(0, 100);
  return { state: "blocked", why: `it asks "${words}": answer once by hand` };
}

/** `host% `, `$ `, `>>> `: one word, or a sign alone. */
const ONE_WORD = /^\S*[$#%>❯➜]$/;
const SIGN_ALONE = /[\s\])}][$#%>❯➜λ]$/;
/** `me@host ~/project (main)# `: the sign follows a path. */
const AFTER_A_PATH = /^(?:[[(].*|.*[@~/\\].*)[$#%>]$/;
/** `➜  project git:(main) ✗ `: the sign comes first. */
const SIGN_FIRST = /^➜\s+\S+(?: git:\(\S+\))?(?: ✗)?$/;

/** A percentage, a price, a progress bar, a tag, an arrow, an address. */
const NO_PROMPT =
  /(?:^|[\s([=:])[\d.,]+\s?%$|(?:^|\s)[\d.,]+\s?\$$|[#=\-.<]>$|##$|<[^<>]*>$|^[│┃╭╰─]|[,;]\s*\S$|:\/\//;

function isShellPrompt(line: string): boolean {
  if (SIGN_FIRST.test(line)) return true;
  if (line.length > 200 || NO_PROMPT.test(line)) return false;
  return [ONE_WORD, SIGN_ALONE, AFTER_A_PATH].some((prompt) => prompt.test(line));
}
