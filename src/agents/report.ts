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
import { tellsOfLimit, tellsOfLogin } from "./own-words.js";
import { addSpending, noSpending, type Spending } from "./spending.js";

/** What the events of one call add up to. */
export interface AgentReport extends Spending {
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

export function emptyReport(): AgentReport {
  return {
    ...{ lastText: "", lastMessage: undefined, resultText: undefined, given: "" },
    ...{ answered: false, steps: 0, error: undefined, lastError: undefined, status: undefined },
    ...{ closings: 0, ended: false, limit: undefined, overage: undefined, stray: "" },
    ...noSpending(),
  };
}

/** Adds one event in place and returns the report: streams hold millions of them. */
export function addEvent(report: AgentReport, event: AgentEvent): AgentReport {
  switch (event.type) {
    case "text":
      if (!event.subagent) addText(report, event);
      break;
    case "tool_start":
    case "tool_end":
    case "todo":
      addWork(report, event);
      break;
    case "progress":
      if (event.newTurn) forgetWords(report);
      if (event.ended) atEnd(report);
      addSpending(report, event);
      break;
    case "result":
      addResult(report, event);
      addSpending(report, event);
      break;
    case "rate_limit":
      addRateLimit(report, event);
      break;
    case "error":
      addError(report, event);
      break;
    case "unknown":
      if (!tellsOfLogin(report.stray)) report.stray = event.line;
  }
  return report;
}

/** The result text where the agent reports one, else the text after its last tool call. */
export function finalMessage(report: AgentReport): string {
  return report.resultText ?? report.lastText;
}

function addText(report: AgentReport, { text, message, delta }: TextEvent): void {
  const before = message === report.lastMessage ? report.lastText : "";
  takeBack(report);
  report.lastText = join(before, text, delta ? "" : "\n");
  report.lastMessage = message;
  report.answered ||= text.trim() !== "";
  if (report.limit === undefined) return;
  // Some agents tell of a limit in the words of their model.
  const isWork = report.lastText.trim() !== "" && !tellsOfLimit(report.lastText);
  if (isWork) report.limit = undefined;
}

/** A longer final message keeps its end, where agents say that they are done. */
const MAX_TEXT = 64 * 1024;

function join(before: string, text: string, separator: string): string {
  if (before.length + text.length <= 2 * MAX_TEXT) return before === "" ? text : before + separator + text;
  // Cut first: a string that is put together and then cut is copied whole.
  const kept = MAX_TEXT - text.length;
  return kept > 0 ? before.slice(-kept) + separator + text : text.slice(-MAX_TEXT);
}

function addWork(report: AgentReport, event: ToolStartEvent | ToolEndEvent | TodoEvent): void {
  if (event.type === "tool_start") report.steps += 1;
  report.limit = undefined;
  report.stray = "";
  report.answered = true;
  // What works in the background takes back nothing that the agent itself has said.
  if (event.type === "todo" || !event.subagent) takeBack(report);
}

/** What was said until now, as a result or not, is not the final message. */
function forgetWords(report: AgentReport): void {
  report.lastText = "";
  report.resultText = undefined;
  report.lastError = undefined;
  report.status = undefined;
  report.ended = false;
}

/** The agent goes on: what an earlier result said is over, too. */
function takeBack(report: AgentReport): void {
  forgetWords(report);
  report.given = "";
}

function atEnd(report: AgentReport): void {
  report.ended = true;
  report.closings += 1;
}

function addResult(report: AgentReport, event: ResultEvent): void {
  report.error = event.error;
  report.lastError = undefined;
  report.status = event.status;
  atEnd(report);
  report.limit = limitAfter(report, event);
  // A task in the background ends with a result of its own, which is often empty.
  if (event.text !== undefined) report.resultText = event.text.trim() === "" ? report.given : event.text;
  report.given = report.resultText ?? "";
  report.answered ||= (event.text ?? "").trim() !== "";
}

export const TOO_MANY_REQUESTS = 429;

/** A result that is none, or another failure, means that the limit was got over. */
function limitAfter({ limit }: AgentReport, result: ResultEvent): LimitSign | undefined {
  const { error, text = "", status, retryAfterMs } = result;
  if (error === undefined) return tellsOfLimit(text) ? limit : undefined;
  if (status === TOO_MANY_REQUESTS) return { ...limit, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return status === undefined ? limit : undefined;
}

/** Claude tells after each call how its limits stand. */
function addRateLimit(report: AgentReport, { status, resetsAt, usingOverage }: RateLimitEvent): void {
  report.limit = status === "rejected" ? { resetsAt } : undefined;
  if (status === "rejected") report.status = undefined;
  if (usingOverage !== undefined) report.overage = usingOverage ? { resetsAt } : undefined;
}

/** An agent that waits for less tries again by itself: that is no time at which a limit ends. */
const OWN_RETRY_MS = 60_000;

function addError(report: AgentReport, { message, status, retryAfterMs = 0 }: AgentErrorEvent): void {
  if (!report.ended) [report.lastError, report.status] = [message, status];
  if (status !== TOO_MANY_REQUESTS) return;
  // A time that was told once is better than none.
  const { resetsAt } = report.limit ?? {};
  report.limit = {
    ...(retryAfterMs >= OWN_RETRY_MS && { retryAfterMs }),
    ...(resetsAt !== undefined && { resetsAt }),
  };
}
