import { rmSync, writeFileSync } from "node:fs";
import type { RunFolder } from "../records/runs.js";
import { addSteering, storeAnswer } from "../records/words.js";
import type { ClaimState } from "./claim.js";
import { changeControl } from "./control.js";

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
