import type { StopReason } from "../../../events.js";
import type { IterationReport } from "../../../records/iteration.js";
import type { Report } from "../../../records/report.js";
import { titleOf } from "../words.js";
import { html, type Markup } from "./markup.js";

export type Outcome = "passed" | "failed" | "agent-failed" | "cut-off" | "at-work";

/** Told apart by sign and word; colour only helps. */
const SIGNS: Record<Outcome, { sign: string; word: string }> = {
  passed: { sign: "✓", word: "passed" },
  failed: { sign: "×", word: "failed" },
  "agent-failed": { sign: "!", word: "agent failed" },
  "cut-off": { sign: "–", word: "cut off" },
  "at-work": { sign: "…", word: "at work" },
};

export const OUTCOMES: Outcome[] = ["passed", "failed", "agent-failed", "cut-off", "at-work"];

export function signOf(outcome: Outcome): Markup {
  return html`<span class="sign ${outcome}" aria-hidden="true">${SIGNS[outcome].sign}</span>`;
}

export function wordOf(outcome: Outcome): string {
  return SIGNS[outcome].word;
}

export function outcomeOf(iteration: IterationReport, { status }: Report): Outcome {
  if (!iteration.finished) return status === "running" || status === "waiting" ? "at-work" : "cut-off";
  if (iteration.error !== null) return "agent-failed";
  return iteration.passed ? "passed" : "failed";
}

export interface Headline {
  outcome: Outcome;
  title: string;
}

export function headlineOf(report: Report): Headline {
  return { outcome: runOutcome(report), title: titleOf(report) };
}

function runOutcome({ reason, exitCode, status }: Report): Outcome {
  if (exitCode === 0) return "passed";
  if (reason !== null) return (Object.hasOwn(UNUSUAL, reason) ? UNUSUAL[reason] : undefined) ?? "failed";
  return status === "crashed" || status === "finished" ? "cut-off" : "at-work";
}

const UNUSUAL: Partial<Record<StopReason, Outcome>> = {
  interrupted: "cut-off",
  agent_failed: "agent-failed",
};
