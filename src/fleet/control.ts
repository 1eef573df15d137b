import { rmSync, writeFileSync } from "node:fs";
import type { Question } from "../events.js";
import type { RunFolder } from "../records/runs.js";
import { addSteering, storeAnswer } from "../records/words.js";
import type { ClaimState } from "./claim.js";
import { change, type Store } from "./store.js";

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

/** Brings what people want to the loop, as its own commands would. */
export function wordsFor(claim: ClaimState) {
  const { context, job } = claim;
  const said = new Set<string>();
  return {
    heed(folder: RunFolder): void {
      const { paused = false, steering = [], answer } = claim.wanted;
      if (paused || claim.isDraining) writeFileSync(folder.pause, "", { flag: "a", mode: 0o600 });
      else rmSync(folder.pause, { force: true });
      for (const { id, text } of steering.filter((one) => !said.has(one.id))) {
        said.add(id);
        addSteering(folder, text);
      }
      if (answer === undefined || said.has(answer.id)) return;
      said.add(answer.id);
      storeAnswer(folder, answer.question, answer.text);
    },
    /** The journal has them, so that no later worker says them again. */
    async taken(isSaid: boolean): Promise<void> {
      if (!isSaid) return;
      await changeControl(context.engine.store, job.data.id, ({ answer, steering = [], ...others }) => ({
        ...others,
        steering: steering.filter(({ id }) => !said.has(id)),
        ...(answer !== undefined && !said.has(answer.id) && { answer }),
      }));
    },
  };
}
