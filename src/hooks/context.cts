import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { ralphHome } from "../records/ralph-home.cjs";
import { type Hook, type HookAnswer, isAnsweredByLoop } from "./hook.cjs";

/** After a tool call: warns the agent as its context fills up, once for each threshold. */
export const context: Hook = async ({ session: id, transcript }, { env }) => {
  const threshold = thresholdOf(transcript, windowOf(env));
  if (threshold === undefined || id === undefined || isAnsweredByLoop(env)) return undefined;
  const session = openSession("context", id, env);
  // Other programs may put files there, too; their names are not numbers.
  const isNew = !session.marks().some((mark) => Number(mark) >= threshold);
  return isNew && session.set(String(threshold)) ? alert(threshold, "stories") : undefined;
};

/** A new session has no thresholds; a compacted one keeps them: its transcript is as long as before. */
export const sessionStart: Hook = async ({ session, sent }, { env }) => {
  if (session !== undefined && sent["source"] !== "compact") openSession("context", session, env).forget();
  return undefined;
};

const MAX_NAME_CHARS = 200;

/** What a hook remembers of a session: empty files in a folder of its own below ralph's home. */
export function openSession(kind: "context" | "stop", id: string, env: NodeJS.ProcessEnv) {
  // With the prefix, `..` is a name like any other.
  const name = `${kind}-${encodeURIComponent(id)}`;
  if (name.length > MAX_NAME_CHARS) throw new Error("the session id is too long");
  const folder = join(ralphHome(env), "hooks", name);
  return {
    marks(): string[] {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return readdirSync(folder);
    },
    /** false: it existed already. Only one of several concurrent hooks sets it; no link is followed. */
    set(mark: string): boolean {
      const path = join(folder, mark);
      try {
        closeSync(openSync(path, "wx", 0o600));
        return true;
      } catch (error) {
        if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
        throw error;
      }
    },
    forget: (): void => rmSync(folder, { recursive: true, force: true }),
  };
}

const DEFAULT_WINDOW = 200_000;
const BYTES_PER_TOKEN = 4;

/** Tokens that fit into the context: `$CLAUDE_CONTEXT_WINDOW`, if it is a number. */
export function windowOf(env: NodeJS.ProcessEnv): number {
  const given = Number(env["CLAUDE_CONTEXT_WINDOW"]);
  return Number.isFinite(given) && given > 0 ? given : DEFAULT_WINDOW;
}

/** How full the context is, in percent, for each warning. */
const SEVERITIES = [
  [90, "CRITICAL"],
  [80, "WARNING"],
  [70, "WARNING"],
  [60, "NOTICE"],
  [50, "NOTICE"],
] as const;
type Threshold = (typeof SEVERITIES)[number][0];

/** The highest threshold reached. The estimate is high: compacting does not shrink a transcript. */
export function thresholdOf(transcript: string | undefined, windowTokens: number): Threshold | undefined {
  if (transcript === undefined) return undefined;
  const bytes = statSync(transcript, { throwIfNoEntry: false })?.size ?? 0;
  const percent = (bytes / BYTES_PER_TOKEN / windowTokens) * 100;
  return SEVERITIES.find(([threshold]) => percent >= threshold)?.[0];
}

/** `handOver`: where the agent notes what remains: in the project's stories, or nowhere but in the loop. */
export function alert(threshold: Threshold, handOver: keyof typeof TEXTS): HookAnswer {
  const severity = SEVERITIES.find(([known]) => known === threshold)?.[1] ?? "NOTICE";
  const additionalContext = `[${severity}] About ${threshold}% of the context window is used. ${TEXTS[handOver][severity]}`;
  return { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext } };
}

const TEXTS = {
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
      "Finish your current task soon. Do not start additional tasks. The next iteration starts with a fresh context and continues from the files as you leave them.",
    CRITICAL:
      "Wrap up immediately. Do NOT start new work. Leave the files in a state from which the next iteration can continue, say what remains, and stop.",
  },
};
