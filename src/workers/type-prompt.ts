import { setTimeout as sleep } from "node:timers/promises";
import { allAgents } from "../agents/index.js";
import type { AgentScreen } from "../agents/screen.js";
import type { Terminal } from "../ask/terminal.js";
import { readiness } from "./ready.js";

type Keyboard = Pick<Terminal, "screen" | "type">;

const LOOK_MS = 250;
const READY_MS = 30_000;
/** Some programs show their input for a moment before they ask a question of their own. */
const LOOKS_READY = 3;
const LOOKS_AFTER = 12;

/** How long a screen that nobody knows must stand still before it is typed to. */
const QUIET_MS = 2000;

export interface Typing {
  /** Told what to expect when the prompt is typed to a program that may not be ready. */
  warn(text: string): void;
  readyMs?: number;
}

/** Types a prompt to a program when that is ready. Returns why it could not be asked, if so. */
export async function typePrompt(
  terminal: Keyboard,
  prompt: string,
  stop: AbortSignal,
  typing: Typing,
): Promise<string | undefined> {
  const screens = (await allAgents()).flatMap(({ screen }) => screen ?? []);
  const why = await untilReady(terminal, screens, stop, typing);
  if (why !== undefined) return why;
  await terminal.type(prompt);
  return await questionAfter(terminal, screens, stop);
}

async function untilReady(
  terminal: Keyboard,
  screens: AgentScreen[],
  stop: AbortSignal,
  { warn, readyMs = READY_MS }: Typing,
): Promise<string | undefined> {
  const begun = performance.now();
  const isQuiet = quietScreen(begun + readyMs, Math.min(QUIET_MS, readyMs));
  let ready = 0;
  for (let now = begun; now < begun + 2 * readyMs; now = await pause(stop)) {
    if (stop.aborted) return "it was ended before it was ready";
    const screen = await terminal.screen();
    if (screen === undefined) return "it ended before it was ready";
    const found = readiness(screen, screens);
    if (found.state === "blocked") return found.why;
    ready = found.state === "ready" ? ready + 1 : 0;
    if (ready === LOOKS_READY) return undefined;
    if (isQuiet(screen, now) && found.state === "waiting" && !found.isBusy) return void warn(QUIET);
  }
  return `it was not ready to be typed to within ${(2 * readyMs) / 1000} s`;
}

const QUIET = `its screen is quiet and none that ralph knows: after ${READY_MS / 1000} s the prompt is typed to it`;

/** Whether a screen has not changed for so long, from then on. */
function quietScreen(from: number, quietMs: number): (screen: string, now: number) => boolean {
  let [seen, changed] = ["", 0];
  return (screen, now) => {
    if (screen !== seen) [seen, changed] = [screen, now];
    return now >= Math.max(from, changed + quietMs);
  };
}

async function questionAfter(
  terminal: Keyboard,
  screens: AgentScreen[],
  stop: AbortSignal,
): Promise<string | undefined> {
  for (let looks = 0; looks < LOOKS_AFTER && !stop.aborted; looks += 1) {
    await pause(stop);
    const screen = await terminal.screen();
    if (screen === undefined) return undefined;
    const found = readiness(screen, screens);
    if (found.state === "blocked") return found.why;
  }
  return undefined;
}

/** Returns what time it is then. */
async function pause(stop: AbortSignal): Promise<number> {
  await sleep(LOOK_MS, undefined, { signal: stop }).catch(() => {});
  return performance.now();
}
