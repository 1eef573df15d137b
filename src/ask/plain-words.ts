import { stripVTControlCharacters } from "node:util";
import { tellsOfLimit } from "../agents/limit-text.js";
import { tellsOfLogin } from "../agents/login-text.js";
import type { Report } from "../agents/report.js";

interface Told {
  report: Report;
  /** What was read of it is its answer alone. */
  isText: boolean;
  message: string;
  stderr: string;
}

const UNAUTHORIZED = 401;
const MAX_CHARS = 300;
const ALONE = /^(?:not logged in|invalid api key)\b.{0,80}$/i;

/** Lines of a stack, and of an object that was dumped below it. */
const OF_A_TRACE = /^at \S|^[\w-]+: [\w.'"-]+,?$/;

/** What a known agent has said beside its stream, the most telling line; empty: nothing. */
export function plainWords({ report, isText, message, stderr }: Told): string {
  const stray = report.stray.startsWith("{") ? "" : report.stray;
  const lines = [...(isText ? [message] : []), stray, ...stderr.split("\n")]
    .map((line) => stripVTControlCharacters(line).trim())
    .filter((line) => /\p{L}/u.test(line) && !line.includes("\n") && !OF_A_TRACE.test(line));
  const telling = lines.find((line) => tellsOfLogin(line) || tellsOfLimit(line));
  const error = lines.findLast((line) => /^\W*error\b/i.test(line));
  return (telling ?? error ?? lines.at(-1) ?? "").slice(0, MAX_CHARS);
}

/** In which words a known agent says that nobody is signed in. One that did not fail has to say nothing else. */
export function signedOutWords(told: Told, hasFailed: boolean): string | undefined {
  const { report } = told;
  if (!hasFailed) return told.isText && ALONE.test(told.message.trim()) ? told.message.trim() : undefined;
  const own = report.error ?? report.lastError;
  if (own !== undefined) return report.status === UNAUTHORIZED || tellsOfLogin(own) ? own : undefined;
  if (report.answered && !told.isText) return undefined;
  const words = plainWords(told);
  return tellsOfLogin(words) ? words : undefined;
}
