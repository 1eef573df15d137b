import type { LoopEventBody, RunPaused } from "../events.js";
import type { Effects } from "./effects.js";

const POLL_MS = 200;

/** Waits here while the run is paused. A signal ends the wait; the time is not counted. */
export async function* pausePoint(
  effects: Effects,
  standing: Pick<RunPaused, "iterations" | "activeMs">,
  agent: string,
): AsyncGenerator<LoopEventBody, number> {
  const { clock, signals } = effects;
  if (!effects.isPaused()) return 0;
  const since = clock.elapsed();
  yield { type: "run.paused", ...standing };
  while (effects.isPaused() && !signals.stop.aborted) await clock.sleep(POLL_MS, signals.stop);
  if (!signals.stop.aborted) yield { type: "run.resumed", ...standing, agent };
  return clock.elapsed() - since;
}

/** Sleeps; a pause or a signal ends it early. */
export async function sleepUntilPaused({ clock, signals, isPaused }: Effects, ms: number): Promise<void> {
  const until = clock.elapsed() + ms;
  for (let left = ms; left > 0; left = until - clock.elapsed()) {
    if (isPaused() || signals.stop.aborted) return;
    await clock.sleep(Math.min(left, POLL_MS), signals.stop);
  }
}
