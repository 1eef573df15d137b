import { setTimeout as sleep } from "node:timers/promises";
import type { Terminal } from "../ask/terminal.js";
import { readiness } from "./ready.js";

type Keyboard = Pick<Terminal, "screen" | "type">;

const LOOK_MS = 250;
const READY_MS = 30_000;
/** Some programs show their input for a moment before they ask a question of their own. */
const LOOKS_READY = 3;
const LOOKS_AFTER = 12;

/** Types a prompt to a program when that is ready. Returns why it could not be asked, if so. */
export async function typePrompt(
  terminal: Keyboard,
  prompt: string,
  stop: AbortSignal,
): Promise<string | undefined> {
  const why = await untilReady(terminal, stop);
  if (why !== undefined) return why;
  await terminal.type(prompt);
  return await questionAfter(terminal, stop);
}

async function untilReady(terminal: Keyboard, stop: AbortSignal): Promise<string | undefined> {
  const until = performance.now() + READY_MS;
  for (let ready = 0; performance.now() < until; await pause(stop)) {
    if (stop.aborted) return "it was ended before it was ready";
    const screen = await terminal.screen();
    if (screen === undefined) return "it ended before it was ready";
    const found = readiness(screen);
    if (found.state === "blocked") return found.why;
    ready = found.state === "ready" ? ready + 1 : 0;
    if (ready === LOOKS_READY) return undefined;
  }
  return `it was not ready to be typed to within ${READY_MS / 1000} s`;
}

async function questionAfter(terminal: Keyboard, stop: AbortSignal): Promise<string | undefined> {
  for (let looks = 0; looks < LOOKS_AFTER && !stop.aborted; looks += 1) {
    await pause(stop);
    const screen = await terminal.screen();
    if (screen === undefined) return undefined;
    const found = readiness(screen);
    if (found.state === "blocked") return found.why;
  }
  return undefined;
}

function pause(stop: AbortSignal): Promise<void> {
  return sleep(LOOK_MS, undefined, { signal: stop }).catch(() => {});
}
