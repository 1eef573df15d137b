import type { LoopEvent } from "../events.js";
import type { RunState } from "../records/run-state.js";
import { harmless, harmlessJson } from "./harmless.js";

/** Renders a run. Must not throw, and must not change it. */
export interface View {
  /**
   * `state` is what all events add up to, this one included: a view counts nothing itself. It changes with the next
   * event. A promise when the reader is slow: nothing more is shown until it has caught up.
   */
  event(event: LoopEvent, state: Readonly<RunState>): Promise<void> | undefined;
  /** A message for people that is not an event and not part of the product. */
  note(text: string): void;
  close(): void;
}

/** What a view shows of each type of event. */
export type ByEvent<Args extends unknown[], Shown> = {
  [Type in LoopEvent["type"]]?: (event: LoopEvent & { type: Type }, ...args: Args) => Shown;
};

/** The table's entry for this event; undefined: none. */
export function shownBy<Args extends unknown[], Shown>(
  table: ByEvent<Args, Shown>,
  event: LoopEvent,
  ...args: Args
): Shown | undefined {
  const show = table[event.type] as ((event: LoopEvent, ...args: Args) => Shown) | undefined;
  return show?.(event, ...args);
}

const ENDINGS = ["drain", "close", "error"] as const;

/** Writes; where the reader is slow, resolves when it has caught up or is gone. */
export function print(stream: NodeJS.WriteStream, text: string): Promise<void> | undefined {
  if (stream.destroyed || stream.write(text)) return undefined;
  return new Promise((resolve) => {
    const done = (): void => {
      for (const name of ENDINGS) stream.off(name, done);
      resolve();
    };
    for (const name of ENDINGS) stream.once(name, done);
  });
}

/** One event per line on stdout, and nothing else. */
export function jsonView(): View {
  return {
    event: (event) => print(process.stdout, `${harmlessJson(event)}\n`),
    note: (text) => void process.stderr.write(`${harmless(text)}\n`),
    close: () => {},
  };
}
