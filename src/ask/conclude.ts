import { stripVTControlCharacters } from "node:util";
import type { Agent } from "../agents/agent.js";
import { endOfOverage, isOver, usageLimit } from "../agents/limit.js";
import { finalMessage, type Report } from "../agents/report.js";
import { describeSystemError } from "../errors.js";
import type { AgentFinished, AgentStop } from "../events.js";
import type { Exit } from "../process/run.js";
import { withoutEcho } from "../verify/echo.js";
import { plainWords, signedOutWords } from "./plain-words.js";
import type { AgentSetup } from "./run-agent.js";

/** How a call of an agent came to its end. Secrets are out of its words already. */
export interface Ended extends Pick<AgentSetup, "agent" | "mode" | "words" | "sandbox" | "allowOverage"> {
  report: Report;
  exit: Pick<Exit, "exitCode" | "signal" | "spawnError">;
  /** Why ralph ended it, if it did. */
  stopped: { reason: AgentStop; explanation: string } | null;
  /** Its final message. */
  message: string;
  stderr: string;
  /** What it said on stderr since it last used a tool. */
  lately: string;
  now: Date;
}

/** The final message of an agent that wrote no file for it. */
export function ownWords({ name }: Agent, report: Report, prompt: string): string {
  const message = finalMessage(report);
  return name === "command" ? withoutEcho(stripVTControlCharacters(message), prompt) : message;
}

type Conclusion = Pick<AgentFinished, "error" | "empty" | "limit" | "overage" | "signedOut">;

/** Whether a call has failed, was empty, or reached a limit, from all that is known of it. */
export function conclude(ended: Ended): Conclusion {
  const { agent, mode, report, message, lately, now } = ended;
  const stopped = ended.stopped?.reason ?? null;
  const failure = answered(stopped, report) ? null : errorOf(ended);
  const isPlain = mode === "text" || agent.name === "command";
  const ending = { error: failure, stopped, finalMessage: message, stderr: lately, isPlain };
  const limit = usageLimit(report, ending, now);
  const error = failure ?? limit?.message ?? null;
  const empty = error === null && !report.answered && message.trim() === "";
  if (limit !== undefined) return { error, empty, limit };
  const overage = ended.allowOverage ? undefined : endOfOverage(report, now);
  const known = agent.name !== "command" && isOver(stopped) ? inOwnWords(ended, error, empty) : {};
  return { error, empty, ...(overage && { overage }), ...known };
}

/** What a known agent says of it beside its stream: that is all it says where it cannot even begin. */
function inOwnWords(ended: Ended, error: string | null, empty: boolean): Partial<Conclusion> {
  const told = toldBy(ended);
  const words = signedOutWords(told, error !== null || empty);
  if (words !== undefined)
    return { error: error?.includes(words) ? error : words, empty: false, signedOut: true };
  return empty ? { error: plainWords(told) || null } : {};
}

function toldBy({ mode, report, message, lately }: Ended): Parameters<typeof plainWords>[0] {
  return { report, isText: mode === "text", message, stderr: lately };
}

/** Whoever had given a result before it was ended for what came later has answered. */
function answered(stopped: AgentStop | null, { ended, error }: Report): boolean {
  if (stopped === "done") return error === undefined;
  return ended && error === undefined && stopped !== null && LATE_STOPS.has(stopped);
}

const LATE_STOPS = new Set<AgentStop>(["inactivity", "budget_exhausted", "overage"]);

/** Exit 0 is not enough: an agent can say that it failed, or have been ended. */
function errorOf(ended: Ended): string | null {
  const { words, sandbox, exit, stopped, report } = ended;
  if (exit.spawnError) return `cannot start ${words[0]}: ${describeSystemError(exit.spawnError)}`;
  const inWords = (error: string): string => sandbox?.explain(error) ?? error;
  const hasFailed = report.ended && report.error !== undefined && stopped?.reason === "inactivity";
  if (stopped !== null && !hasFailed) return inWords(stopped.explanation);
  if (report.error !== undefined) return inWords(report.error);
  if (exit.exitCode === 0) {
    const reason = report.lastError ?? (isBrokenOff(ended) ? BROKEN_OFF : null);
    return reason === null ? null : inWords(reason);
  }
  return inWords(exitOf(ended));
}

/** `exit code 1`, and the last words that it had for it. */
function exitOf(ended: Ended): string {
  const { agent, exit, report, stderr } = ended;
  const how = exit.signal === null ? `exit code ${exit.exitCode}` : `killed by ${exit.signal}`;
  const told = agent.name === "command" ? stderr.trim().split("\n").at(-1) : plainWords(toldBy(ended));
  const last = told || (report.lastError ?? "");
  return last === "" ? how : `${how}: ${last}`;
}

const BROKEN_OFF = "its stream broke off before it had finished";

/** Every known agent says that it has come to its end: words without that may be any of its words. */
function isBrokenOff({ agent, mode, report }: Ended): boolean {
  return mode === "stream" && agent.name !== "command" && report.answered && !report.ended;
}
