import type { Look, Readiness } from "./ready.js";

const READY: Readiness = { state: "ready" };
const WAITING: Readiness = { state: "waiting", isBusy: true };

/** How many lines above an input may tell what the agent does. */
const NEAR = 8;

const RULE = /^─{8,}/;
const SPINNER = /^[·✢✳✶✻✽*] [^…]{1,80}…/;

/** An input between two rules, and a footer below. A narrow window shows the spinner alone. */
export const claudeCode: Look = (lines) => {
  const bottom = lines.findLastIndex((line) => RULE.test(line));
  const top = lines.slice(0, Math.max(0, bottom)).findLastIndex((line) => RULE.test(line));
  const footer = lines.slice(bottom + 1);
  if (top < 0 || !isIndented(footer) || !/^[❯>!](?:\s|$)/.test(lines[top + 1] ?? "")) return undefined;
  const above = lines.slice(Math.max(0, top - NEAR), top);
  if (above.slice(-2).some((line) => /not logged in · run \/login/i.test(line))) {
    return {
      state: "blocked",
      why: "Claude Code is not signed in: run claude once by hand, and /login in it",
    };
  }
  const isBusy =
    footer.some((line) => /esc to interrupt/.test(line)) || above.some((line) => SPINNER.test(line));
  return isBusy ? WAITING : READY;
};

/** A line that begins with ›, and a footer below; a number after it is a choice in a list. */
export const codex: Look = (lines) => {
  const input = lines.findLastIndex((line) => /^›(?:\s|$)/.test(line));
  const footer = lines.slice(input + 1);
  if (input < 0 || footer.length === 0 || !isIndented(footer)) return undefined;
  if (/^› \d+\. /.test(lines[input] ?? "")) return undefined;
  const isBusy = lines
    .slice(Math.max(0, input - NEAR), input)
    .some((line) => /^\W.*esc to interrupt/.test(line));
  return isBusy ? WAITING : READY;
};

/** A bar with its foot, and the keys below; what lies over it is a dialog. */
export const openCode: Look = (lines) => {
  const foot = lines.findLastIndex((line) => /▀{20,}/.test(line));
  const below = lines.slice(foot + 1);
  if (foot < 1 || below.length === 0 || !isIndented(below)) return undefined;
  if (!/┃/.test(lines.slice(Math.max(0, foot - 3), foot).join(""))) return undefined;
  if (lines.some((line) => /^\s+\S.*\s{3,}esc$/.test(line))) return undefined;
  if (below.some((line) => /[⬝■]{3,}|esc interrupt/.test(line))) return WAITING;
  return /commands/.test(below.join(" ")) ? READY : undefined;
};

export const gemini: Look = (lines) => {
  const input = lines.findLastIndex((line) => /^[\s│]*[>*!]\s+Type your message/.test(line));
  if (input < 0 || !isIndented(lines.slice(input + 1))) return undefined;
  const isBusy = lines.slice(Math.max(0, input - NEAR), input).some((line) => /esc to cancel/i.test(line));
  return isBusy ? WAITING : READY;
};

/** A box, and one line below; Claude Code had the same before 2.1. */
export const amp: Look = (lines) => {
  if (!/^╰.*╯$/.test(lines.at(-2) ?? "")) return undefined;
  if (/esc to (?:cancel|interrupt)/i.test(lines.slice(-NEAR).join(" "))) return WAITING;
  return /^\s*\? for shortcuts/.test(lines.at(-1) ?? "") ? READY : undefined;
};

/** Agents indent what they write below their input; another program's output begins at the edge. */
function isIndented(lines: string[]): boolean {
  return lines.length <= 6 && lines.every((line) => /^[\s╰]/.test(line));
}
