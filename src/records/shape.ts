import type { LoopEvent } from "../events.js";
import { has, type Kind } from "./files.js";

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
  "landing.started": "into tip old new",
  "landing.landed": "into tip old new checks",
  "landing.refused": "into tip reason message",
  "landing.cleaned": "branch",
  "lease.lost": "worker epoch why",
  "run.finished": "success reason iterations durationMs",
  "lane.started": "slot branch worktree base",
  "lane.waiting": "for file",
  "lane.overlaps": "with files",
  "lane.returned": "try reason message target",
  "lane.blocked": "message",
};

/** A field of this name is of the same kind in every event; all others are strings. */
const NAMES: Partial<Record<Kind, string>> = {
  number:
    "iteration iterations epoch attempt slot try durationMs inputTokens outputTokens seconds activeMs consecutiveFailures alike",
  boolean: "passed success before now",
  object: "limits event spent totals",
  array: "checks files",
  "number?": "costUsd",
  "string?": "error",
};
const KINDS = new Map(
  Object.entries(NAMES).flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind as Kind])),
);
const kindsOf = (names: string): Record<string, Kind> =>
  Object.fromEntries(names.split(" ").map((name) => [name, KINDS.get(name) ?? "string"]));
const EVENTS = new Map(Object.entries(FIELDS).map(([type, names]) => [type, kindsOf(names)]));
const TOTALS = kindsOf("costUsd inputTokens outputTokens activeMs consecutiveFailures alike");
const CHECK = kindsOf("command before now");

/** Whether something that was read is an event of this version, whole enough to be used. */
export function isEvent(value: unknown): value is LoopEvent {
  if (!has(value, { v: "number", type: "string", ts: "string" }) || value["v"] !== 1) return false;
  const { checks = [], baseline = [], files = [], totals } = value;
  const isWhole = has(value, EVENTS.get(String(value["type"])) ?? {});
  return (
    isWhole &&
    [checks, baseline, files].every(Array.isArray) &&
    [value["type"] === "baseline.finished" ? checks : [], baseline]
      .flat()
      .every((check) => has(check, CHECK)) &&
    (totals === undefined || has(totals, TOTALS))
  );
}
