import { stripVTControlCharacters } from "node:util";
import type { Agent, AskOptions } from "../agents/agent.js";
import { endOfOverage, isOver, usageLimit } from "../agents/limit.js";
import { tellsOfLimit, tellsOfLogin } from "../agents/own-words.js";
import { type AgentReport, finalMessage } from "../agents/report.js";
import { describeSystemError } from "../errors.js";
import type { AgentFinished, AgentStop } from "../events.js";
import type { Exit } from "../process/run.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { withoutEcho } from "../verify/done.js";

/** How a call of an agent ended, with secrets removed. */
export interface CallEnd extends Pick<AskOptions, "mode" | "words"> {
  agent: Agent;
  sandbox?: Pick<Sandbox, "explain"> | undefined;
  allowOverage: boolean;
  report: AgentReport;
  exit: Pick<Exit, "exitCode" | "signal" | "spawnError">;
  /** Why ralph ended it, if it did. */
  stopped: { reason: AgentStop; explanation: string } | null;
  message: string;
  stderr: string;
  now: Date;
}

type Conclusion = Pick<AgentFinished, "error" | "empty" | "limit" | "overage" | "signedOut">;

export function ownWords(agent: Agent, report: AgentReport, prompt: string): string {
  const message = finalMessage(report);
  return isKnown(agent) ? message : withoutEcho(stripVTControlCharacters(message), prompt);
}

export function conclude(call: CallEnd): Conclusion {
  const { agent, mode, report, message, stderr, now } = call;
  const stopped = call.stopped?.reason ?? null;
  // An agent that reported a result counts as answered even if it was ended afterwards.
  const hasAnswered = stopped === "done" || (report.ended && LATE_STOPS.has(stopped));
  const failure = hasAnswered && report.error === undefined ? null : errorOf(call);
  const isPlain = mode === "text" || !isKnown(agent);
  const limit = usageLimit(report, { error: failure, stopped, finalMessage: message, stderr, isPlain }, now);
  const error = failure ?? limit?.message ?? null;
  const empty = error === null && !report.answered && message.trim() === "";
  if (limit !== undefined) return { error, empty, limit };
  const overage = call.allowOverage ? undefined : endOfOverage(report, now);
  const beside = isKnown(agent) && isOver(stopped) ? besideStream(call, error, empty) : {};
  return { error, empty, ...(overage && { overage }), ...beside };
}

/** A known agent that cannot even start says so outside its stream. */
function besideStream(call: CallEnd, error: string | null, empty: boolean): Partial<Conclusion> {
  const words = signedOutWords(call, error !== null || empty);
  if (words === undefined) return empty ? { error: plainWords(call) || null } : {};
  return { error: error?.includes(words) ? error : words, empty: false, signedOut: true };
}

function isKnown({ name }: Agent): boolean {
  return name !== "command";
}

const LATE_STOPS = new Set<AgentStop | null>(["inactivity", "budget_exhausted", "overage"]);

/** Exit 0 is not enough: the agent can report a failure, or ralph can have ended it. */
function errorOf(call: CallEnd): string | null {
  const { words, sandbox, exit, stopped, report } = call;
  if (exit.spawnError) return `cannot start ${words[0]}: ${describeSystemError(exit.spawnError)}`;
  const hasFailed = report.ended && report.error !== undefined && stopped?.reason === "inactivity";
  const error = stopped !== null && !hasFailed ? stopped.explanation : (report.error ?? exitOf(call));
  return error === null ? null : (sandbox?.explain(error) ?? error);
}

const MAX_LINE_CHARS = 8000;
const BROKEN_OFF = "its stream broke off before the end";

/** Why the exit of its process counts as a failure: `exit code 1`, with the agent's last words about it. */
function exitOf({ exit, report, agent, ...call }: CallEnd): string | null {
  if (exit.exitCode === 0) {
    // Every known agent marks its end; without that mark, any words may be its last.
    const isCut = call.mode === "stream" && isKnown(agent) && report.answered && !report.ended;
    return report.lastError ?? (isCut ? BROKEN_OFF : null);
  }
  const how = exit.signal === null ? `exit code ${exit.exitCode}` : `killed by ${exit.signal}`;
  const stderr = call.stderr.trim().slice(-MAX_LINE_CHARS);
  const last = isKnown(agent) ? plainWords({ ...call, report }) : stderr.split("\n").at(-1);
  const why = last || (report.lastError ?? "");
  return why === "" ? how : `${how}: ${why}`;
}

const MAX_CHARS = 300;
/** Lines of a stack trace, and of an object dumped below it. */
const OF_A_TRACE = /^at \S|^[\w-]+: [\w.'"-]+,?$/;

/** The most telling line that a known agent wrote outside its stream; empty: none. */
function plainWords(call: Pick<CallEnd, "report" | "mode" | "message" | "stderr">): string {
  const { report, mode, message, stderr } = call;
  const stray = report.stray.startsWith("{") ? "" : report.stray;
  const lines = [...(mode === "text" ? [message] : []), stray, ...stderr.split("\n")]
    .map((line) => stripVTControlCharacters(line).trim())
    .filter((line) => /\p{L}/u.test(line) && !line.includes("\n") && !OF_A_TRACE.test(line));
  const telling = lines.find((line) => tellsOfLogin(line) || tellsOfLimit(line));
  const error = lines.findLast((line) => /^\W*error\b/i.test(line));
  return (telling ?? error ?? lines.at(-1) ?? "").slice(0, MAX_CHARS);
}

const UNAUTHORIZED = 401;
const ALONE = /^(?:not logged in|invalid api key)\b.{0,80}$/i;

/** How a known agent says that nobody is signed in. If it did not fail, it must say nothing else. */
function signedOutWords(call: CallEnd, hasFailed: boolean): string | undefined {
  const { report, mode, message } = call;
  if (!hasFailed) return mode === "text" && ALONE.test(message.trim()) ? message.trim() : undefined;
  const own = report.error ?? report.lastError;
  if (own !== undefined) return report.status === UNAUTHORIZED || tellsOfLogin(own) ? own : undefined;
  if (report.answered && mode === "stream") return undefined;
  const words = plainWords(call);
  return tellsOfLogin(words) ? words : undefined;
}
