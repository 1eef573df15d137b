import { alert, thresholdOf } from "./alerts.cjs";
import { sizeOf } from "./context.cjs";
import { block, type HookAnswer, type HookInput } from "./hook.cjs";
import type { Answers } from "./server.js";

export interface LoopAnswersOptions {
  /** Why the agent may not stop yet; absent where any stop is fine. */
  mayStop?: (() => Promise<string | undefined>) | undefined;
  /** What is said before a tool is used; absent where anything may be done. */
  guard?: ((input: HookInput) => HookAnswer) | undefined;
  /** Whether what remains goes into the stories of the project. */
  keepsStories: boolean;
}

/** The event of the agent that each of the answers is for. */
export const EVENTS = { stop: "Stop", context: "PostToolUse", "pre-tool-use": "PreToolUse" } as const;

export type LoopHookName = keyof typeof EVENTS;

export interface LoopAnswers {
  answers: Answers<LoopHookName>;
  /** An agent is called that has been told nothing yet. `window`: tokens that fit into its context. */
  beginCall(window: number): void;
}

/** Times that one call of an agent is kept from stopping. What is wrong then is found when it is verified. */
export const MAX_BLOCKS = 5;

/** What the loop tells the agents that it calls, one after the other, through their hooks. */
export function loopAnswers({ mayStop, guard, keepsStories }: LoopAnswersOptions): LoopAnswers {
  let window = Number.POSITIVE_INFINITY;
  let told = 0;
  let blocks = 0;
  const handOver = keepsStories ? "stories" : "loop";
  return {
    beginCall(tokens) {
      window = tokens;
      told = 0;
      blocks = 0;
    },
    answers: {
      async context({ transcript }) {
        const threshold = thresholdOf(sizeOf(transcript), window);
        if (threshold === undefined || threshold <= told) return undefined;
        told = threshold;
        return alert({ threshold, handOver });
      },
      ...(guard && { "pre-tool-use": async (input) => guard(input) }),
      ...(mayStop && {
        async stop() {
          const reason = blocks < MAX_BLOCKS ? await mayStop() : undefined;
          if (reason === undefined) return undefined;
          blocks += 1;
          return block(reason);
        },
      }),
    },
  };
}
