import type { AgentEvent, ResultEvent, TextEvent } from "../events.js";
import { tellsOfLimit, tellsOfLogin } from "./own-words.js";
import { addSpending, noSpending, type Spending } from "./spending.js";

/** What the events of one call add up to. */
export interface AgentReport extends Spending {
  /** Its own words since its last tool call. */
  lastText: string;
  lastMessage?: string | undefined;
  resultText?: string | undefined;
  /** What an earlier result said, where the agent has neither spoken nor worked since. */
  given: string;
  /** It said something or used a tool: the answer is not empty. */
  answered: boolean;
  steps: number;
  error?: string | undefined;
  /** Of an agent whose last word was an error, and no result came after it. */
  lastError?: string | undefined;
  /** What its service answered last, as an HTTP status, where its last word was an error. */
  status?: number | undefined;
  /** How often it has said that it is at its end. */
  closings: number;
  ended: boolean;
  /** Its service has refused it for a limit, and it has done nothing since. */
  limit?: LimitSign | undefined;
  /** It uses what is paid for extra. */
  overage?: LimitSign | undefined;
  /** The last line that was no event. */
  stray: string;
}

export interface LimitSign {
  /** Seconds since the epoch. */
  resetsAt?: number | undefined;
  retryAfterMs?: number | undefined;
}

export const TOO_MANY_REQUESTS = 429;
/** A longer final message keeps its end, where agents say that they are done. */
const MAX_TEXT = 64 * 1024;
/** An agent that waits for less tries again by itself: that is no time at which a limit ends. */
const OWN_RETRY_MS = 60_000;

export function emptyReport(): AgentReport {
  const counts = { answered: false, steps: 0, closings: 0, ended: false };
  return { lastText: "", given: "", stray: "", ...counts, ...noSpending() };
}

/** The result text where the agent reports one, else the text after its last tool call. */
export function finalMessage(report: AgentReport): string {
  return report.resultText ?? report.lastText;
}

/** Adds one event in place and returns the report: streams hold millions of them. */
export function addEvent(report: AgentReport, event: AgentEvent): AgentReport {
  addSpending(report, event);
  ADD[event.type](report, event as never);
  return report;
}

type Add<Type> = (report: AgentReport, event: Extract<AgentEvent, { type: Type }>) => void;

const ADD: { [Type in AgentEvent["type"]]: Add<Type> } = {
  text(report, event) {
    if (!event.subagent) addText(report, event);
  },
  tool_start(report, event) {
    report.steps += 1;
    addWork(report, event);
  },
  tool_end: addWork,
  todo: addWork,
  progress(report, { newTurn, ended }) {
    if (newTurn) forgetWords(report);
    if (ended) atEnd(report);
  },
  result: addResult,
  /** Claude tells after each call how its limits stand. */
  rate_limit(report, { status, resetsAt, usingOverage }) {
    report.limit = status === "rejected" ? { resetsAt } : undefined;
    if (status === "rejected") report.status = undefined;
    if (usingOverage !== undefined) report.overage = usingOverage ? { resetsAt } : undefined;
  },
  error(report, { message, status, retryAfterMs = 0 }) {
    if (!report.ended) [report.lastError, report.status] = [message, status];
    if (status !== TOO_MANY_REQUESTS) return;
    // A time that was told once is better than none.
    report.limit = {
      resetsAt: report.limit?.resetsAt,
      ...(retryAfterMs >= OWN_RETRY_MS && { retryAfterMs }),
    };
  },
  unknown(report, { line }) {
    if (!tellsOfLogin(report.stray)) report.stray = line;
  },
};

function addWork(report: AgentReport, event: AgentEvent): void {
  report.limit = undefined;
  report.stray = "";
  report.answered = true;
  // What works in the background takes back nothing that the agent itself has said.
  if (!("subagent" in event)) forgetWords(report, "");
}

function addText(report: AgentReport, { text, message, delta }: TextEvent): void {
  const before = message === report.lastMessage ? report.lastText : "";
  forgetWords(report, "");
  report.lastText = join(before, text, delta ? "" : "\n");
  report.lastMessage = message;
  report.answered ||= text.trim() !== "";
  if (report.limit === undefined) return;
  // Some agents tell of a limit in the words of their model.
  if (report.lastText.trim() !== "" && !tellsOfLimit(report.lastText)) report.limit = undefined;
}

function join(before: string, text: string, separator: string): string {
  if (before.length + text.length <= 2 * MAX_TEXT) return before === "" ? text : before + separator + text;
  // Cut first: a string that is put together and then cut is copied whole.
  const kept = MAX_TEXT - text.length;
  return kept > 0 ? before.slice(-kept) + separator + text : text.slice(-MAX_TEXT);
}

/** What was said until now is not the final message. An agent that goes on takes back an earlier result, too. */
function forgetWords(report: AgentReport, given = report.given): void {
  Object.assign(report, { given, lastText: "", ended: false });
  report.resultText = report.lastError = report.status = undefined;
}

function atEnd(report: AgentReport): void {
  report.ended = true;
  report.closings += 1;
}

function addResult(report: AgentReport, { error, text, status }: ResultEvent): void {
  const words = text ?? "";
  report.error = error;
  report.lastError = undefined;
  report.status = status;
  atEnd(report);
  // A result that is none, or another failure, means that the limit was got over.
  const isLimited = error === undefined ? tellsOfLimit(words) : status === undefined;
  if (error !== undefined && status === TOO_MANY_REQUESTS) report.limit ??= {};
  else if (!isLimited) report.limit = undefined;
  // A task in the background ends with a result of its own, which is often empty.
  if (text !== undefined) report.resultText = words.trim() === "" ? report.given : words;
  report.given = report.resultText ?? "";
  report.answered ||= words.trim() !== "";
}
