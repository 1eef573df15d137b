import { finalMessage, type Report } from "../agents/report.js";
import { spent } from "../agents/spending.js";
import type { AgentStop } from "../events.js";
import type { Remaining } from "../loop/effects.js";
import type { Tree } from "../process/kill.js";
import { afterDelay } from "../process/timer.js";
import { type ActivityWatch, watchActivity } from "./activity.js";

export interface Supervision {
  iterationTimeoutMs: number | null;
  /** 0: never. */
  inactivityTimeoutMs: number;
  remaining: Remaining;
  isDone?: ((said: string) => boolean) | undefined;
  /** Whether it may use what is paid for extra. */
  allowOverage?: boolean | undefined;
  fingerprint(): Promise<string>;
  kill: AbortSignal;
}

export interface Supervisor {
  /** Aborted when the agent has to go. */
  stop: AbortSignal;
  reason(): AgentStop | null;
  /** The reason in words. */
  explanation(): string;
  started(tree: Tree): void;
  /** Somebody else has found a reason. */
  stopFor(reason: AgentStop, detail?: string): void;
  /** The agent wrote something, and this is what it adds up to. */
  heard(report: Report): void;
  /** Nobody watches any more; an agent that still runs has to go. */
  end(): void;
}

/** An agent that has given its result has little left to do, and less when it may spend no more. */
const AFTER_RESULT_MS = 15_000;
const OVER_BUDGET_MS = 2000;
/** Whoever goes on after words that mean done takes them back: so long nothing may follow. */
const LAST_WORDS_MS = 1500;

/** Everything that can end an agent before it ends by itself. The first reason wins. */
export function supervise(rules: Supervision): Supervisor {
  const { remaining, kill } = rules;
  const controller = new AbortController();
  let reason: AgentStop | null = null;
  let explanation = "";
  const end = (why: AgentStop, detail: string = EXPLANATIONS[why]): void => {
    if (reason === null) [reason, explanation] = [why, detail];
    controller.abort();
  };
  const onKill = (): void => end("interrupted");
  if (kill.aborted) onKill();
  kill.addEventListener("abort", onKill, { once: true });
  const timers = [
    afterDelay(remaining.timeMs, () => end("timeout")),
    afterDelay(rules.iterationTimeoutMs ?? undefined, () => end("iteration_timeout")),
  ];
  let activity: ActivityWatch | undefined;
  let overBudget = false;
  let lastWords: NodeJS.Timeout | undefined;
  let afterResult: NodeJS.Timeout | undefined;
  let seen = "";
  const patience = Math.min(AFTER_RESULT_MS, rules.inactivityTimeoutMs || AFTER_RESULT_MS);
  const expectEnd = ({ ended, closings, steps }: Report): void => {
    // Its subagents may still be at work: whatever else it writes is no reason to wait.
    const now = `${ended} ${closings} ${steps}`;
    if (now === seen) return;
    seen = now;
    clearTimeout(afterResult);
    if (ended) afterResult = setTimeout(() => end("inactivity", STILL_THERE), patience);
  };
  const listen = (report: Report): void => {
    clearTimeout(lastWords);
    if (!rules.isDone?.(finalMessage(report))) return;
    lastWords = setTimeout(() => end("done"), LAST_WORDS_MS);
  };
  return {
    stop: controller.signal,
    stopFor: end,
    reason: () => reason,
    explanation: () => explanation,
    started(tree) {
      const { inactivityTimeoutMs: timeoutMs, fingerprint } = rules;
      if (timeoutMs === 0) return;
      activity = watchActivity({ timeoutMs, tree, fingerprint, onSilence: () => end("inactivity") });
    },
    heard(report) {
      activity?.touch();
      listen(report);
      // What comes after the answer costs nothing more.
      const hasAnswered = report.ended && report.error === undefined;
      if (report.overage !== undefined && rules.allowOverage === false && !hasAnswered) end("overage");
      expectEnd(report);
      const passed = passedLimit(report, remaining);
      if (passed === undefined || overBudget) return;
      overBudget = true;
      const detail = `the ${passed} limit was passed`;
      timers.push(afterDelay(report.ended ? OVER_BUDGET_MS : 0, () => end("budget_exhausted", detail)));
    },
    end() {
      kill.removeEventListener("abort", onKill);
      for (const timer of [...timers, lastWords, afterResult]) clearTimeout(timer);
      activity?.end();
      controller.abort("nobody watches any more");
    },
  };
}

function passedLimit(report: Report, { costUsd, tokens }: Remaining): "cost" | "token" | undefined {
  if (costUsd === undefined && tokens === undefined) return undefined;
  const used = spent(report);
  if (costUsd !== undefined && (used.costUsd ?? 0) > costUsd) return "cost";
  return tokens !== undefined && used.inputTokens + used.outputTokens > tokens ? "token" : undefined;
}

const STILL_THERE = "it did not end after its result";

const EXPLANATIONS: Record<AgentStop, string> = {
  inactivity: "no sign of life within the inactivity timeout",
  iteration_timeout: "the iteration timeout was reached",
  budget_exhausted: "the budget is exhausted",
  timeout: "the time limit was reached",
  interrupted: "interrupted",
  overage: "paid extra usage has begun (--allow-overage would let it go on)",
  done: "it said that it is done",
};
