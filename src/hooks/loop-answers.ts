import { alert, thresholdOf } from "./context.cjs";
import { block, type HookAnswer, type HookInput, MAX_BLOCKS } from "./hook.cjs";
import type { Answers } from "./server.js";

export interface LoopAnswersOptions {
  /** Why the agent may not stop yet; absent where any stop is fine. */
  mayStop?: (() => Promise<string | undefined>) | undefined;
  /** The answer before a tool is used; absent where anything may be done. */
  guard?: ((input: HookInput) => HookAnswer) | undefined;
  /** Whether what remains goes into the stories of the project. */
  keepsStories: boolean;
}

/** The event of the agent that each of the answers is for. */
export const EVENTS = { stop: "Stop", context: "PostToolUse", "pre-tool-use": "PreToolUse" } as const;

export type LoopHookName = keyof typeof EVENTS;

export interface LoopAnswers {
  answers: Answers<LoopHookName>;
  /** A call of an agent begins, which has heard nothing yet. `window`: tokens that fit into its context. */
  beginCall(window: number): void;
}

/** What the loop answers to the hooks of the agents that it calls, one after the other. */
export function loopAnswers({ mayStop, guard, keepsStories }: LoopAnswersOptions): LoopAnswers {
  let call = { window: Number.POSITIVE_INFINITY, alerted: 0, blocks: 0 };
  return {
    beginCall(window) {
      call = { window, alerted: 0, blocks: 0 };
    },
    answers: {
      async context({ transcript }) {
        const threshold = thresholdOf(transcript, call.window);
        if (threshold === undefined || threshold <= call.alerted) return undefined;
        call.alerted = threshold;
        return alert(threshold, keepsStories ? "stories" : "loop");
      },
      ...(guard && { "pre-tool-use": async (input) => guard(input) }),
      ...(mayStop && {
        async stop() {
          // What is still wrong after so many is found when the iteration is verified.
          const reason = call.blocks < MAX_BLOCKS ? await mayStop() : undefined;
          if (reason === undefined) return undefined;
          call.blocks += 1;
          return block(reason);
        },
      }),
    },
  };
}
