import { stripVTControlCharacters } from "node:util";
import type { AgentStop, UsageLimit } from "../events.js";
import type { Agent } from "./agent.js";
import { tellsOfLimit } from "./own-words.js";
import { type AgentReport, type LimitSign, TOO_MANY_REQUESTS } from "./report.js";
import { resetTime, valid } from "./reset-time.js";

export interface CallEnding {
  error: string | null;
  stopped: AgentStop | null;
  finalMessage: string;
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
