import type { LoopEvent } from "../events.js";
import type { RunState } from "../records/run-state.js";

/** Renders a run. Must not throw, and must not change it. */
export interface View {
  /**
   * `state` is what all events add up to, this one included: a view counts nothing itself. It changes with the next
   * event. A promise when the reader is slow: nothing more is shown until it has caught up.
   */
  event(event: LoopEvent, state: Readonly<RunState>): Promise<void> | undefined;
  /** Something that is no event: said to people, never part of the product. */
  note(text: string): void;
  close(): void;
}
