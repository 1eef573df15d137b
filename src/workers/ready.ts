import { amp, claudeCode, codex, gemini, openCode } from "./inputs.js";
import { dialog, questionOnLastLine } from "./questions.js";
import { shell } from "./shell-prompt.js";

/**
 * Whether a program on a terminal can be typed to. `isBusy`: ralph knows the program, and it works. `blocked`: it
 * asks something that only a person can answer.
 */
export type Readiness =
  | { state: "ready" }
  | { state: "waiting"; isBusy?: true }
  | { state: "blocked"; why: string };

/** What is known from the lines of a screen that are not blank; undefined: another program's screen. */
export type Look = (lines: string[]) => Readiness | undefined;

const LOOKS: Look[] = [questionOnLastLine, claudeCode, codex, openCode, gemini, amp, shell, dialog];

/** Reads the visible text of a screen, as `tmux capture-pane -p` gives it. Only its end counts. */
export function readiness(screen: string): Readiness {
  const lines = screen
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
  for (const look of LOOKS) {
    const found = look(lines);
    if (found !== undefined) return found;
  }
  return { state: "waiting" };
}
