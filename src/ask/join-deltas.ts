import type { AgentEvent, TextEvent } from "../events.js";

/** What is held of a line that does not end, and what stays held when that is too much. */
const HOLD_CHARS = 64 * 1024;
const OVERLAP_CHARS = 4 * 1024;

/**
 * Text that comes in pieces is told in whole lines: a secret that was cut in two would not be seen in either part.
 */
export function createDeltaJoiner() {
  let held: TextEvent | undefined;

  function* end(): Generator<AgentEvent> {
    if (held !== undefined && held.text !== "") yield held;
    held = undefined;
  }

  function* add(event: AgentEvent): Generator<AgentEvent> {
    if (event.type !== "text" || !event.delta) {
      yield* end();
      yield event;
      return;
    }
    if (held !== undefined && held.message !== event.message) yield* end();
    const text = (held?.text ?? "") + event.text;
    const cut = cutOf(text);
    if (cut > 0) yield { ...event, text: text.slice(0, cut) };
    held = { ...event, text: text.slice(cut) };
  }

  return { add, end };
}

/** Where whole lines end; in a line without an end, between two words. */
function cutOf(text: string): number {
  const lines = text.lastIndexOf("\n") + 1;
  if (text.length - lines <= HOLD_CHARS) return lines;
  const most = text.length - OVERLAP_CHARS;
  const word = text.lastIndexOf(" ", most) + 1;
  return word > lines ? word : most;
}
