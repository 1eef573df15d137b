import type { LoopEventBody } from "../../events.js";
import type { Answer, Recipe, Verdict } from "../../loop/recipe.js";
import { donePattern } from "../../verify/pattern.js";
import { saysDone } from "../../verify/says-done.js";
import { readAnyText } from "../text-file.js";

export interface RepeatSpec {
  kind: "repeat";
  /** Read anew for each iteration, and allowed to be empty. */
  promptFile: string;
  donePattern?: string;
}

/** Asks what stands in a file, as often as it was told to or until the agent says the words that mean done. */
export function repeatRecipe(spec: RepeatSpec): Recipe {
  const pattern = spec.donePattern === undefined ? undefined : donePattern(spec.donePattern);
  let asked = "";
  const isDone = (said: string): boolean => pattern !== undefined && saysDone(said, pattern, asked);

  return {
    name: "prompt",
    verifies: false,
    endsAtLimit: true,

    async plan() {
      asked = readAnyText("prompt file", spec.promptFile, "/");
      return { prompt: asked, ...(pattern !== undefined && { isDone }) };
    },

    // biome-ignore lint/correctness/useYield: it is told from the answer alone
    async *verify({ error, finalMessage }: Answer): AsyncGenerator<LoopEventBody, Verdict> {
      const claimedDone = error === null && isDone(finalMessage);
      if (claimedDone)
        return { passed: true, reason: "done pattern matched", claimedDone, stop: "completed" };
      return { passed: true, reason: "iteration completed", claimedDone };
    },
  };
}
