import { type Report, spent } from "../agents/report.js";
import type { AgentStop } from "../events.js";
import type { Tree } from "../process/kill.js";
import { afterDelay } from "../process/timer.js";
import { type ActivityWatch, watchActivity } from "./activity.js";
import type { Remaining } from "./effects.js";

export interface Supervision {
  iterationTimeoutMs: number | null;
  /** 0: never. */
  inactivityTimeoutMs: number;
  remaining: Remaining;
  fingerprint(): Promise<string>;
  kill: AbortSignal;
}

export interface Supervisor {
  /** Aborted when the agent has to go. */
  stop: AbortSignal;
  reason(): AgentStop | null;
  started(tree: Tree): void;
  /** The agent wrote something, and this is what it adds up to. */
  heard(report: Report): void;
  end(): void;
}

/** An agent that has given its result has little left to do. */
const AFTER_RESULT_MS = 120_000;

/** Everything that can end an agent before it ends by itself. The first reason wins. */
export function supervise(rules: Supervision): Supervisor {
  const { remaining, kill } = rules;
  const controller = new AbortController();
  let reason: AgentStop | null = null;
  const end = (why: AgentStop): void => {
    reason ??= why;
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
  return {
    stop: controller.signal,
    reason: () => reason,
    started(tree) {
      const { inactivityTimeoutMs: timeoutMs, fingerprint } = rules;
      if (timeoutMs === 0) return;
      activity = watchActivity({ timeoutMs, tree, fingerprint, onSilence: () => end("inactivity") });
    },
    heard(report) {
      activity?.touch();
      if (report.ended) activity?.shorten(AFTER_RESULT_MS);
      if (isOver(report, remaining)) end("budget_exhausted");
    },
    end() {
      kill.removeEventListener("abort", onKill);
      for (const timer of timers) clearTimeout(timer);
      activity?.end();
    },
  };
}

function isOver(report: Report, { costUsd, tokens }: Remaining): boolean {
  if (costUsd === undefined && tokens === undefined) return false;
  const used = spent(report);
  if (costUsd !== undefined && (used.costUsd ?? 0) > costUsd) return true;
  return tokens !== undefined && used.inputTokens + used.outputTokens > tokens;
}
