import { createRequire } from "node:module";
import { stripVTControlCharacters } from "node:util";
import type { AgentFinished, AgentStop, UsageLimit } from "../events.js";
import { PROGRAM } from "../package-folder.cjs";
import type { Agent } from "./agent.js";
import { tellsOfLimit } from "./own-words.js";
import { type AgentReport, type LimitSign, TOO_MANY_REQUESTS } from "./report.js";

export interface CallEnding extends Pick<AgentFinished, "error" | "stopped" | "finalMessage"> {
  stderr: string;
  /** Whether ralph read only plain text from it, so that its output may be its error. */
  isPlain: boolean;
}

/** Whether the agent has reached its usage limit. Its stream counts first, then its own last words. */
export function usageLimit(report: AgentReport, ending: CallEnding, now: Date): UsageLimit | undefined {
  const { error, stopped, finalMessage } = ending;
  if (stopped === "overage") return error === null ? undefined : limit(report.overage, [error], now);
  if (!isOver(stopped) || isOtherStatus(report)) return undefined;
  if (error === null) {
    const isRefused = report.limit !== undefined && tellsOfLimit(finalMessage);
    return isRefused ? limit(report.limit, [finalMessage], now) : undefined;
  }
  const telling = ownWords(report, ending).filter(tellsOfLimit);
  if (report.limit === undefined && telling.length === 0) return undefined;
  // One text reports the limit, another says when it ends.
  const told = [...telling, report.limit === undefined ? (report.error ?? "") : error];
  // After it reports a limit, an agent often writes to stderr for how long.
  const lines = ending.isPlain ? [] : ending.stderr.trim().split("\n");
  const at = lines.findIndex(tellsOfLimit);
  return limit(report.limit, told, now, at < 0 ? "" : lines.slice(at + 1).join("\n"));
}

/** When paid extra usage that the agent started by itself ends. */
export function endOfOverage({ overage }: AgentReport, now: Date): UsageLimit | undefined {
  return overage && limit(overage, ["paid extra usage has begun"], now);
}

/** The service reported another error than a limit. Some answer 400 or 403 when a quota is used up. */
function isOtherStatus({ status, error = "" }: AgentReport): boolean {
  if (status === undefined || status === TOO_MANY_REQUESTS) return false;
  return status >= 500 || !tellsOfLimit(error);
}

/** Whether a call ended by itself, or because it made no progress. */
export function isOver(stopped: AgentStop | null): boolean {
  return stopped === null || stopped === "inactivity" || stopped === "iteration_timeout";
}

const STATUS_LINE = /^\s*(?:status|code): 429\b|^Attempt \d+ failed with status 429\b|QuotaError:/;

/** What the agent itself, not its model or a tool, said about its failure. */
function ownWords(report: AgentReport, { finalMessage, stderr, isPlain }: CallEnding): string[] {
  const { error, lastError = "", stray } = report;
  const lines = stderr.trim().split("\n");
  // Text outside its stream may come from a server of its tools; the stream comes first.
  if (error !== undefined && !tellsOfLimit(error)) {
    // Gemini repeats its service's words as `[API Error: …]`, and gives the status only on stderr.
    const isBare = /^\[?API Error\b/.test(error) && !/\b[45]\d\d\b/.test(error);
    return isBare ? lines.filter((line) => STATUS_LINE.test(line)) : [];
  }
  return [
    error ?? lastError,
    isPlain ? (finalMessage.trim().split("\n").at(-1) ?? "") : "",
    stray.startsWith("{") ? "" : stray,
    // For a plain command, any program that it started may have written there.
    ...(isPlain ? lines.slice(-1) : lines.reverse()),
  ];
}

const MANY_CHARS = 20;
const MAX_CHARS = 300;
/** Some agents count in milliseconds. */
const MOST_SECONDS = 100_000_000_000;

function limit(sign: LimitSign | undefined, texts: string[], now: Date, more = ""): UsageLimit {
  const { resetsAt = 0, retryAfterMs = Number.NaN } = sign ?? {};
  const signed = resetsAt > MOST_SECONDS ? resetsAt : resetsAt * 1000;
  let reset = valid(signed > 0 ? signed : +now + retryAfterMs);
  for (const text of [...texts, more]) reset ??= resetTime(text, now);
  // `status: 429` alone says little.
  const best = texts.find((text) => text.length > MANY_CHARS) ?? texts[0] ?? "";
  const begin = stripVTControlCharacters(best.trimStart().slice(0, 10 * MAX_CHARS));
  const message = begin.replace(/\s+/g, " ").trim().slice(0, MAX_CHARS);
  return { resetsAt: reset?.toISOString() ?? null, message };
}

/** A usage limit that the agent itself shows on its screen; undefined: nothing that is certainly its own. */
export function limitOnScreen({ screen }: Agent, text: string, now: Date): UsageLimit | undefined {
  const said = screen?.ownLine?.(text.split("\n").map((line) => line.trimEnd()));
  return said !== undefined && tellsOfLimit(said) ? limit(undefined, [said], now) : undefined;
}

const MAX_TEXT_CHARS = 20_000;
const MAX_LEADS = 20;
const MAX_MOMENT_CHARS = 80;
const DAY_MS = 86_400_000;
/** A text that is some minutes old means the time that has just passed, not the next day's. */
const JUST_PASSED_MS = 10 * 60_000;

/** `…limit reached|1763280000`, `"resets_at":1763280000`; some count in milliseconds. */
const EPOCH = /(?:\||\bresets?[\s_]?(?:at)?["']?\s?[:=]?)\s?(\d{10}(?:\d{3})?)(?!\d)/i;
const KEYS = "resets?_in_seconds|retry[-_ ]?after(?:[-_]?(?:ms|sec(?:ond)?s))?|retryDelay";
const VERBS = "resets?|try again|retry|available(?: again)?|wait(?: until)?|come back|regain access";
const LEAD = new RegExp(
  String.raw`\b(?:${KEYS}|${VERBS})(?![a-z])["']?[:=]? ?["']?(?:(?:at|on|in|after|for|later|by)[ \n])*`,
  "gi",
);
/** A number without a unit. */
const BARE = /^\d+(?:\.\d+)?(?![\d:-]|\.\d|[ \t]*[a-z])/i;
const ZONE = /\(?\b([A-Z]\w+\/[A-Z][\w+/-]+)\)?/;
const COAST = /\b([pmce])(?:acific|ountain|entral|astern)(?: standard| daylight)? time\b/i;

/** When a limit ends, according to the agent's words. undefined: they do not say. */
export function resetTime(
  text: string,
  now: Date,
  ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone,
): Date | undefined {
  // A pattern would try every way to divide long runs of white space.
  const all = text.slice(0, MAX_TEXT_CHARS).replace(/\s+/g, (run) => (run.includes("\n") ? "\n" : " "));
  const epoch = EPOCH.exec(all)?.[1];
  if (epoch !== undefined) return new Date(Number(epoch.padEnd(13, "0")));
  for (const { index, 0: lead } of [...all.matchAll(LEAD)].slice(0, MAX_LEADS)) {
    const words = all
      .slice(index + lead.length, index + lead.length + MAX_MOMENT_CHARS)
      .replace(/^less than | before\b.*/gs, "")
      .replace(/^(\d+)ms\b/, (_, ms) => `${Number(ms) / 1000}s`)
      .replace(/(\d:\d\d) (?=[a-z]{3,9}\.? \d)/i, "$1 on ")
      .replace(COAST, "$1T");
    const moment = spanIn(lead, words, now) ?? onTheClock(words, now, ownZone);
    if (moment !== undefined) return moment;
  }
  return undefined;
}

/** undefined: not a valid moment. */
function valid(moment: number): Date | undefined {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Loaded late: the parser is large, and few runs meet a limit. */
function parse(words: string, now: Date, timezone: number) {
  const chrono: typeof import("chrono-node/en") = createRequire(PROGRAM)("chrono-node/en");
  const [found] = chrono.casual.parse(words, { instant: now, timezone });
  return found?.index === 0 ? found : undefined;
}

/** `3 hours 12 minutes`, `30` after `retry-after:` */
function spanIn(lead: string, words: string, now: Date): Date | undefined {
  const [bare] = /after|seconds/i.test(lead) ? (BARE.exec(words) ?? []) : [];
  if (bare !== undefined) return valid(+now + Number(bare) * (/ms/i.test(lead) ? 1 : 1000));
  return /^(?:\d|an? |about|around|~)/i.test(words) ? parse(`in ${words}`, now, 0)?.start.date() : undefined;
}

/** `1pm (Asia/Seoul)`, `Nov 16 at 5am`, `2026-11-16T05:00:00Z` */
function onTheClock(words: string, now: Date, ownZone: string): Date | undefined {
  const [named, zone = ownZone] = ZONE.exec(words) ?? [""];
  const offset = offsetAt(+now, zone);
  const { start, text = "" } = (!Number.isNaN(offset) && parse(words.replace(named, ""), now, offset)) || {};
  const isDay = start?.isCertain("day");
  // A bare number is no time of day, and a bare month is no date.
  const isHour = start?.isCertain("hour") && /:|[ap]\.?m|noon|midnight/i.test(text);
  if (start === undefined || !(isHour || isDay || start.isCertain("weekday"))) return undefined;
  let moment = +start.date() - (isHour ? 0 : DAY_MS / 2);
  if (!isDay && +now - moment > JUST_PASSED_MS) moment += DAY_MS * (start.isCertain("weekday") ? 7 : 1);
  // The clocks may change until then.
  return valid(
    start.isCertain("timezoneOffset") ? moment : moment + (offset - offsetAt(moment, zone)) * 60_000,
  );
}

/** By how many minutes a zone is ahead of UTC; NaN: no such zone. */
function offsetAt(moment: number, timeZone: string): number {
  try {
    const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
    const minute = Math.floor(moment / 60_000);
    return Date.parse(`${format.format(minute * 60_000).replace(" ", "T")}Z`) / 60_000 - minute;
  } catch {
    return Number.NaN;
  }
}
