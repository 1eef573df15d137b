import type {
  AgentErrorEvent,
  AgentEvent,
  RateLimitEvent,
  ResultEvent,
  TextEvent,
  TodoEvent,
  ToolEndEvent,
  ToolStartEvent,
} from "../events.js";
import { tellsOfLimit } from "./limit-text.js";
import { tellsOfLogin } from "./login-text.js";
import { addLive, addResultSpending, NO_TOKENS, type Spending } from "./spending.js";

/** What an agent's events add up to. Plain data: it is part of a run's state. */
export interface Report extends Spending {
  /** Its own words since its last tool call. */
  lastText: string;
  lastMessage: string | undefined;
  /** The last result that carried a text. */
  resultText: string | undefined;
  /** What an earlier result said, where the agent has neither spoken nor worked since. */
  given: string;
  /** It said something or used a tool: the answer is not empty. */
  answered: boolean;
  /** Tools that it used. */
  steps: number;
  error: string | undefined;
  /** Of an agent whose last word was an error, and no result came after it. */
  lastError: string | undefined;
  /** What its service answered last, as an HTTP status, where its last word was an error. */
  status: number | undefined;
  /** How often it has said that it is at its end. */
  closings: number;
  /** Its last word was that. */
  ended: boolean;
  /** Its service has refused it for a limit, and it has done nothing since. */
  limit: LimitSign | undefined;
  /** It uses what is paid for extra. */
  overage: LimitSign | undefined;
  /** The last line that was no event. */
  stray: string;
}

/** What a stream tells of a limit. */
export interface LimitSign {
  /** Seconds since the epoch. */
  resetsAt?: number | undefined;
  retryAfterMs?: number | undefined;
}

/** A longer final message keeps its end, where agents say that they are done. */
const MAX_TEXT = 64 * 1024;

export function emptyReport(): Report {
  return {
    lastText: "",
    lastMessage: undefined,
    resultText: undefined,
    given: "",
    answered: false,
    steps: 0,
    error: undefined,
    lastError: undefined,
    status: undefined,
    closings: 0,
    ended: false,
    results: undefined,
    resultCostUsd: undefined,
    live: [],
    settled: NO_TOKENS,
    limit: undefined,
    overage: undefined,
    stray: "",
  };
}

/** Adds one event in place and returns the report: streams hold millions of them. */
export function addEvent(report: Report, event: AgentEvent): Report {
  switch (event.type) {
    case "text":
      return event.subagent ? report : addText(report, event);
    case "tool_start":
    case "tool_end":
    case "todo":
      return addWork(report, event);
    case "progress":
      if (event.newTurn) forgetWords(report);
      if (event.usage) addLive(report, event.usage);
      if (event.ended) atEnd(report);
      return report;
    case "result":
      return addResult(report, event);
    case "rate_limit":
      return addRateLimit(report, event);
    case "error":
      return addError(report, event);
    case "unknown":
      if (!tellsOfLogin(report.stray)) report.stray = event.line;
      return report;
  }
}

export const TOO_MANY_REQUESTS = 429;

function addWork(report: Report, event: ToolStartEvent | ToolEndEvent | TodoEvent): Report {
  if (event.type === "tool_start") report.steps += 1;
  report.limit = undefined;
  report.stray = "";
  report.answered = true;
  // What works in the background takes back nothing that the agent itself has said.
  if (event.type === "todo" || !event.subagent) takeBack(report);
  return report;
}

function addError(report: Report, event: AgentErrorEvent): Report {
  if (!report.ended) report.lastError = event.message;
  if (!report.ended) report.status = event.status;
  if (event.status === TOO_MANY_REQUESTS) report.limit = { ...ownRetry(event), ...known(report.limit) };
  return report;
}

/** Claude tells after each call how its limits stand. */
function addRateLimit(report: Report, { status, resetsAt, usingOverage }: RateLimitEvent): Report {
  report.limit = status === "rejected" ? { resetsAt } : undefined;
  if (status === "rejected") report.status = undefined;
  if (usingOverage !== undefined) report.overage = usingOverage ? { resetsAt } : undefined;
  return report;
}

/** An agent that waits for less tries again by itself: that is no time at which a limit ends. */
const OWN_RETRY_MS = 60_000;

function ownRetry({ retryAfterMs = 0 }: AgentErrorEvent): LimitSign {
  return retryAfterMs >= OWN_RETRY_MS ? { retryAfterMs } : {};
}

/** A time that was told once is better than none. */
function known(sign: LimitSign | undefined): LimitSign {
  return sign?.resetsAt === undefined ? {} : { resetsAt: sign.resetsAt };
}

/** The result text where the agent reports one, else the text after its last tool call. */
export function finalMessage(report: Report): string {
  return report.resultText ?? report.lastText;
}

function addText(report: Report, { text, message, delta }: TextEvent): Report {
  const before = message === report.lastMessage ? report.lastText : "";
  takeBack(report);
  report.lastText = join(before, text, delta ? "" : "\n");
  report.lastMessage = message;
  report.answered ||= text.trim() !== "";
  if (report.limit !== undefined && isWork(report.lastText)) report.limit = undefined;
  return report;
}

/** Some agents tell of a limit in the words of their model. */
function isWork(text: string): boolean {
  return text.trim() !== "" && !tellsOfLimit(text);
}

/** What was said until now, as a result or not, is not the final message. */
function forgetWords(report: Report): void {
  report.lastText = "";
  report.resultText = undefined;
  report.lastError = undefined;
  report.status = undefined;
  report.ended = false;
}

/** The agent goes on: what an earlier result said is over, too. */
function takeBack(report: Report): void {
  forgetWords(report);
  report.given = "";
}

function atEnd(report: Report): void {
  report.ended = true;
  report.closings += 1;
}

function addResult(report: Report, event: ResultEvent): Report {
  report.error = event.error;
  report.lastError = undefined;
  report.status = event.status;
  atEnd(report);
  report.limit = limitAfter(report, event);
  // A task in the background ends with a result of its own, which is often empty.
  if (event.text !== undefined) report.resultText = event.text.trim() === "" ? report.given : event.text;
  report.given = report.resultText ?? "";
  report.answered ||= (event.text ?? "").trim() !== "";
  addResultSpending(report, event);
  return report;
}

/** A result that is none, or another failure, means that the limit was got over. */
function limitAfter({ limit }: Report, event: ResultEvent): LimitSign | undefined {
  if (event.error === undefined) return tellsOfLimit(event.text ?? "") ? limit : undefined;
  if (event.status === TOO_MANY_REQUESTS) return { ...limit, ...told(event) };
  return event.status === undefined ? limit : undefined;
}

function told({ retryAfterMs }: ResultEvent): LimitSign {
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

function join(before: string, text: string, separator: string): string {
  if (before.length + text.length <= 2 * MAX_TEXT) return before === "" ? text : before + separator + text;
  // Cut first: a string that is put together and then cut is copied whole.
  const kept = MAX_TEXT - text.length;
  return kept > 0 ? before.slice(-kept) + separator + text : text.slice(-MAX_TEXT);
}
