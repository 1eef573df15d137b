import type { LoopEvent } from "../events.js";

/** Renders a run. Must not throw, and must not change it. */
export interface View {
  event(event: LoopEvent): void;
  /** Something that is no event: said to people, never part of the product. */
  note(text: string): void;
  close(): void;
}
