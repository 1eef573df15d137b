import type { Question } from "../events.js";
import type { Store } from "./store.js";
import { change } from "./store.js";

interface Said {
  id: string;
  text: string;
}

/** What people want of a job: its worker looks at it every second, and so does the next one after a takeover. */
export interface Control {
  paused?: boolean;
  cancelled?: boolean;
  /** In the order in which they were said; those that the journal has are taken away. */
  steering?: Said[];
  answer?: Said & { question: Question };
}

export const controlKey = (id: string): string => `control:${id}`;

export function changeControl(
  store: Store,
  id: string,
  update: (before: Control) => Control,
): Promise<unknown> {
  return change<Control>(store, controlKey(id), (before = {}) => update(before));
}
