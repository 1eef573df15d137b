import type { StopReason } from "../../../events.js";
import { TITLES } from "../../summary.js";
import type { CheckReport, IterationReport, Report, RunStatus } from "../model.js";
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
  if (!iteration.finished) return status === "running" ? "at-work" : "cut-off";
  if (iteration.error !== null) return "agent-failed";
  return iteration.passed ? "passed" : "failed";
}

export interface Headline {
  outcome: Outcome;
  title: string;
}

/** What came of the run in a line; as long as it has not ended, where it stands. */
export function headlineOf({ reason, success, status }: Report): Headline {
  if (reason === null) return STANDINGS[status];
  return { outcome: success ? "passed" : (UNUSUAL[reason] ?? "failed"), title: TITLES[reason] };
}

const STANDINGS: Record<RunStatus, Headline> = {
  running: { outcome: "at-work", title: "Still running" },
  paused: { outcome: "at-work", title: "Paused" },
  crashed: { outcome: "cut-off", title: "Crashed: ralph was ended before the run was" },
  finished: { outcome: "cut-off", title: "Finished" },
};

const UNUSUAL: Partial<Record<StopReason, Outcome>> = {
  interrupted: "cut-off",
  agent_failed: "agent-failed",
};

/** `exit code 1`, `timed out`, `SIGKILL`. */
export function endingOf({ timedOut, signal, exitCode }: CheckReport): string {
  if (timedOut) return "timed out";
  return signal ?? `exit code ${exitCode ?? "unknown"}`;
}
