import { statSync } from "node:fs";
import { alert, type Threshold, thresholdOf, windowOf } from "./alerts.cjs";
import { type Hook, isAnsweredByLoop } from "./hook.cjs";
import { openSession } from "./session.cjs";

/** After a tool: tells the agent when its context fills up, once for each threshold. */
export const context: Hook = async ({ session, transcript }, { env }) => {
  const threshold = thresholdOf(sizeOf(transcript), windowOf(env));
  if (threshold === undefined || session === undefined || isAnsweredByLoop(env)) return undefined;
  return isNews(session, threshold, env) ? alert({ threshold, handOver: "stories" }) : undefined;
};

/** A transcript that is not there yet is empty. */
export function sizeOf(transcript: string | undefined): number {
  if (transcript === undefined) return 0;
  return statSync(transcript, { throwIfNoEntry: false })?.size ?? 0;
}

function isNews(id: string, threshold: Threshold, env: NodeJS.ProcessEnv): boolean {
  const session = openSession("context", id, env);
  // What is no number was put there by somebody else.
  const isLower = !session.marks().some((mark) => Number(mark) >= threshold);
  return isLower && session.set(String(threshold));
}
