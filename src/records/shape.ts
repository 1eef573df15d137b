import type { LoopEvent } from "../events.js";

type Kind = "string" | "number" | "boolean" | "object" | "array" | "number?" | "string?";

/** What later code relies on. Fields that a later release adds do not matter, nor do events that it adds. */
const FIELDS: Record<LoopEvent["type"], Record<string, Kind>> = {
  "run.started": { recipe: "string", agent: "string", workspace: "string", limits: "object" },
  "run.resumed": { iterations: "number" },
  "run.paused": { iterations: "number" },
  "iteration.started": { iteration: "number" },
  "agent.started": { iteration: "number", agent: "string", attempt: "number" },
  "agent.event": { iteration: "number", event: "object" },
  "agent.finished": {
    iteration: "number",
    durationMs: "number",
    costUsd: "number?",
    inputTokens: "number",
    outputTokens: "number",
    error: "string?",
    finalMessage: "string",
  },
  "check.started": { iteration: "number", command: "string" },
  "check.finished": { iteration: "number", command: "string", passed: "boolean", durationMs: "number" },
  "baseline.finished": { checks: "array" },
  "scm.asked": { iteration: "number", spent: "object" },
  "scm.finished": { iteration: "number", task: "string", passed: "boolean", message: "string" },
  "gate.finished": { iteration: "number", state: "string", passed: "boolean", output: "string" },
  "state.changed": { iteration: "number", from: "string", to: "string" },
  violation: { iteration: "number", what: "string" },
  "locks.removed": { iteration: "number", files: "array" },
  "backoff.started": { iteration: "number", seconds: "number" },
  "limit.waiting": { iteration: "number", until: "string", agent: "string" },
  "iteration.finished": {
    iteration: "number",
    passed: "boolean",
    reason: "string",
    durationMs: "number",
    totals: "object",
  },
  "run.finished": { success: "boolean", reason: "string", iterations: "number", durationMs: "number" },
};

const TOTALS: Record<string, Kind> = {
  costUsd: "number?",
  inputTokens: "number",
  outputTokens: "number",
  activeMs: "number",
  consecutiveFailures: "number",
  alike: "number",
};

/** Whether something that was read is an event of this version, whole enough to be used. */
export function isEvent(value: unknown): value is LoopEvent {
  if (!has(value, { type: "string", ts: "string" }) || value["v"] !== 1) return false;
  const type = String(value["type"]);
  if (!Object.hasOwn(FIELDS, type)) return true;
  return (
    [value["baseline"], type === "baseline.finished" ? value["checks"] : undefined].every(isBaseline) &&
    has(value, FIELDS[type as LoopEvent["type"]]) &&
    (type !== "iteration.finished" || has(value["totals"], TOTALS)) &&
    (type !== "run.finished" || value["files"] === undefined || isOf(value["files"], "array"))
  );
}

function isBaseline(value: unknown): boolean {
  if (value === undefined) return true;
  const fields = { command: "string", before: "boolean", now: "boolean" } as const;
  return Array.isArray(value) && value.every((check) => has(check, fields));
}

export function has(value: unknown, fields: Record<string, Kind>): value is Record<string, unknown> {
  if (!isOf(value, "object")) return false;
  return Object.entries(fields).every(([name, kind]) => isOf((value as Record<string, unknown>)[name], kind));
}

function isOf(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "number?":
      return value === null || Number.isFinite(value);
    case "string?":
      return value === null || typeof value === "string";
    case "number":
      return Number.isFinite(value);
    case "string":
    case "boolean":
      return typeof value === kind;
  }
}
