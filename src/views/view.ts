import type { LoopEvent } from "../events.js";

/** Renders a run. Must not throw, and must not change it. */
export interface View {
  /** A promise when the reader is slow: nothing more is shown until it has caught up. */
  event(event: LoopEvent): Promise<void> | undefined;
  /** Something that is no event: said to people, never part of the product. */
  note(text: string): void;
  close(): void;
}
