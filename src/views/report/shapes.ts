/** Types, words and sums of the page about a run. The browser loads it, too. */

/** The look of an iteration or a check: sign, word and texture differ; colour only helps. */
export const LOOKS = {
  passed: { sign: "✓", word: "passed", texture: { size: 8, width: 0, height: 0, turn: 0 } },
  failed: { sign: "×", word: "failed", texture: { size: 5, width: 1.5, height: 5, turn: 45 } },
  "agent-failed": { sign: "!", word: "agent failed", texture: { size: 5, width: 5, height: 2, turn: 0 } },
  "cut-off": { sign: "–", word: "cut off", texture: { size: 5, width: 3, height: 3, turn: 0 } },
  "at-work": { sign: "…", word: "at work", texture: { size: 8, width: 5, height: 8, turn: 0 } },
  held: { sign: "‖", word: "waits" },
  "not-run": { sign: "·", word: "not run" },
  same: { sign: "=", word: "unchanged" },
  unknown: { sign: "?", word: "cannot tell" },
};

export type Look = keyof typeof LOOKS;

export interface PageIteration {
  iteration: number;
  lane: string | null;
  mode: string | null;
  about: string | null;
  look: Look;
  /** One line: why it passed or not. */
  why: string;
  /** The idle time before it. */
  waitMs: number;
  agentMs: number;
  restMs: number;
  costUsd: number | null;
  costEstimated: boolean;
  tokens: number;
  /** Its time and cost, in words. */
  spent: string;
  checks: Look[];
}

export interface CheckRow {
  command: string;
  /** How it changed since the baseline; empty: it did not, or there is none. */
  became: string;
  /** One for each iteration. */
  cells: { look: Look; words: string }[];
}

export interface CheckLine {
  command: string;
  look: Look;
  words: string;
  /** For a failed one: its output, and the file with all of it. */
  output?: string;
  log?: string;
}

export interface Detail {
  error: string;
  finalMessage: string;
  checks: CheckLine[];
  violations: string[];
  commits: { task: string; passed: boolean; message: string }[];
}

/** A wait drawn in full would leave no room for the work. */
const LONGEST_WAIT = 0.1;

type IterationTimes = Pick<PageIteration, "waitMs" | "agentMs" | "restMs">;

export interface Span<One = PageIteration> {
  one: One;
  /** How much of the wait before it is drawn. */
  drawnMs: number;
  startMs: number;
}

/** Where each iteration is on the axis of time; milliseconds, from the beginning of the axis. */
export function axisOf<One extends IterationTimes>(
  iterations: One[],
): { spans: Span<One>[]; totalMs: number } {
  const longestWait = sum(iterations.map(({ agentMs, restMs }) => agentMs + restMs)) * LONGEST_WAIT;
  let totalMs = 0;
  const spans = iterations.map((one) => {
    const drawnMs = Math.min(one.waitMs, longestWait);
    const startMs = totalMs + drawnMs;
    totalMs = startMs + one.agentMs + one.restMs;
    return { one, drawnMs, startMs };
  });
  return { spans, totalMs };
}

/** `2`; where the run has lanes, `2 of US-001`. */
export function numberOf(one: { iteration: number; lane?: string | null }): string {
  return one.lane == null ? String(one.iteration) : `${one.iteration} of ${one.lane}`;
}

export function sum(values: number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
