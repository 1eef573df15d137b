import { createHash } from "node:crypto";
import { stripVTControlCharacters } from "node:util";

export interface ScreenRules {
  /** undefined: the terminal is gone. */
  screen(): Promise<string | undefined>;
  /** How long it may stand still now; 0: for ever. */
  timeoutMs(): number;
  /** Told what is to be seen, at every look. */
  onLook(screen: string): void;
  onSilence(): void;
}

const LOOK_MS = 2000;
const LINES = 20;

/** Looks at a screen every two seconds; when its last lines have not changed for so long, nobody is at work. */
export function watchScreen(rules: ScreenRules): () => void {
  let before: string | undefined;
  let stableMs = 0;
  let ended = false;
  const look = async (): Promise<void> => {
    const screen = await rules.screen();
    if (ended) return;
    if (screen !== undefined) rules.onLook(screen);
    const now = screen === undefined ? undefined : digest(screen);
    stableMs = now !== undefined && now === before ? stableMs + LOOK_MS : 0;
    before = now;
    const timeoutMs = rules.timeoutMs();
    if (timeoutMs > 0 && stableMs >= timeoutMs) rules.onSilence();
    else schedule();
  };
  let timer: NodeJS.Timeout | undefined;
  const schedule = (): void => {
    timer = setTimeout(() => void look(), LOOK_MS);
  };
  void look();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

function digest(screen: string): string {
  const lines = stripVTControlCharacters(screen).trimEnd().split("\n").slice(-LINES);
  return createHash("md5").update(lines.join("\n")).digest("hex");
}
