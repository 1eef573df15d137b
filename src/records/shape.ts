import type { LoopEvent } from "../events.js";

type Kind = "string" | "number" | "boolean" | "object" | "array" | "number?" | "string?";

/** What later code relies on. Fields that a later release adds do not matter, nor do events that it adds. */
const FIELDS: Record<LoopEvent["type"], string> = {
  "run.started": "recipe agent workspace limits",
  "run.resumed": "iterations",
  "run.paused": "iterations",
  "iteration.started": "iteration",
  "agent.started": "iteration agent attempt",
  "agent.event": "iteration event",
  "agent.finished": "iteration durationMs costUsd inputTokens outputTokens error finalMessage",
  "check.started": "iteration command",
  "check.finished": "iteration command passed durationMs",
  "baseline.finished": "checks",
  "scm.asked": "iteration spent",
  "scm.finished": "iteration task passed message",
  "gate.finished": "iteration state passed output",
  "state.changed": "iteration from to",
  violation: "iteration what",
  "locks.removed": "iteration files",
  "backoff.started": "iteration seconds",
  "limit.waiting": "iteration until agent",
  "iteration.finished": "iteration passed reason durationMs totals",
  "run.finished": "success reason iterations durationMs",
};
const TOTALS = "costUsd inputTokens outputTokens activeMs consecutiveFailures alike";

/** A field of this name is of the same kind in every event. */
const NAMES: Record<Kind, string> = {
  string: "recipe agent workspace command task message state output from to what until reason finalMessage",
  number:
    "iteration iterations attempt durationMs inputTokens outputTokens seconds activeMs consecutiveFailures alike",
  boolean: "passed success",
  object: "limits event spent totals",
  array: "checks files",
  "number?": "costUsd",
  "string?": "error",
};
const KINDS = Object.fromEntries(
  Object.entries(NAMES).flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind as Kind])),
);
const kindsOf = (names: string): Record<string, Kind> =>
  Object.fromEntries(names.split(" ").map((name) => [name, KINDS[name] as Kind]));
const EVENTS = new Map(Object.entries(FIELDS).map(([type, names]) => [type, kindsOf(names)]));
const TOTALS_KINDS = kindsOf(TOTALS);
const CHECK_KINDS = { command: "string", before: "boolean", now: "boolean" } as const;

/** Whether something that was read is an event of this version, whole enough to be used. */
export function isEvent(value: unknown): value is LoopEvent {
  if (!has(value, { type: "string", ts: "string" }) || value["v"] !== 1) return false;
  const fields = EVENTS.get(String(value["type"]));
  const { checks = [], baseline = [], files = [], totals } = value;
  if (fields === undefined) return true;
  const isBaseline = (list: unknown): boolean =>
    isOf(list, "array") && (list as unknown[]).every((check) => has(check, CHECK_KINDS));
  return (
    has(value, fields) &&
    [checks, baseline].every(isBaseline) &&
    isOf(files, "array") &&
    (!("totals" in fields) || has(totals, TOTALS_KINDS))
  );
}

/** Whether it is an object with these fields. Not zod: `ralph run` reads locks, and would load zod for that alone. */
export function has(value: unknown, fields: Record<string, Kind>): value is Record<string, unknown> {
  if (!isOf(value, "object")) return false;
  return Object.entries(fields).every(([name, kind]) => isOf((value as Record<string, unknown>)[name], kind));
}

function isOf(value: unknown, kind: Kind): boolean {
  if (kind.endsWith("?")) return value === null || isOf(value, kind.slice(0, -1) as Kind);
  if (kind === "array") return Array.isArray(value);
  if (kind === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return kind === "number" ? Number.isFinite(value) : typeof value === kind;
}
