import type { HookAnswer } from "./hook.cjs";

/** How full a context is, in percent, when its agent is told. */
const THRESHOLDS = [90, 80, 70, 60, 50] as const;
export type Threshold = (typeof THRESHOLDS)[number];

const DEFAULT_WINDOW = 200_000;
const BYTES_PER_TOKEN = 4;

/** The highest threshold that a transcript of this size has reached. */
export function thresholdOf(transcriptBytes: number, windowTokens: number): Threshold | undefined {
  const percent = percentOf(transcriptBytes, windowTokens);
  return THRESHOLDS.find((threshold) => percent >= threshold);
}

/** Tokens that fit into the context: `$CLAUDE_CONTEXT_WINDOW`, where that is a number. */
export function windowOf(env: NodeJS.ProcessEnv): number {
  const given = Number(env["CLAUDE_CONTEXT_WINDOW"]);
  return Number.isFinite(given) && given > 0 ? given : DEFAULT_WINDOW;
}

export interface Alert {
  threshold: Threshold;
  /** Where the agent leaves what remains: in the stories of the project, or with nobody but the loop. */
  handOver: "stories" | "loop";
}

export function alert({ threshold, handOver }: Alert): HookAnswer {
  const severity = SEVERITIES[threshold];
  const additionalContext = `[${severity}] About ${threshold}% of the context window is used. ${TEXTS[handOver][severity]}`;
  return { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext } };
}

/** An estimate that errs on the high side: a transcript does not shrink when its context is compacted. */
function percentOf(transcriptBytes: number, windowTokens: number): number {
  return (transcriptBytes / BYTES_PER_TOKEN / windowTokens) * 100;
}

type Severity = "NOTICE" | "WARNING" | "CRITICAL";

const SEVERITIES: Record<Threshold, Severity> = {
  50: "NOTICE",
  60: "NOTICE",
  70: "WARNING",
  80: "WARNING",
  90: "CRITICAL",
};

const TEXTS: Record<Alert["handOver"], Record<Severity, string>> = {
  stories: {
    NOTICE:
      "Be mindful of remaining space. Plan to finish your current task within this session. If you discover follow-up work, add new stories to tasks.json — the next iteration will pick them up.",
    WARNING:
      "Finish your current task and commit soon. Do not start additional tasks. If work remains, create new stories in tasks.json for the next iteration and capture any implementation details or insights in progress.txt so the next iteration has full context.",
    CRITICAL:
      "Wrap up immediately. Do NOT start new work. Instead: (1) create tasks in tasks.json for any remaining work, (2) write implementation details, insights, and handoff notes to progress.txt, (3) commit all changes, (4) stop. The next iteration will continue from where you left off.",
  },
  loop: {
    NOTICE:
      "Be mindful of remaining space. Plan to finish your current task within this session; what remains is for the next iteration.",
    WARNING:
      "Finish your current task soon. Do not start additional tasks. The next iteration starts with a fresh context and goes on from the files as you leave them.",
    CRITICAL:
      "Wrap up immediately. Do NOT start new work. Leave the files in a state that the next iteration can go on from, say what remains, and stop.",
  },
};
