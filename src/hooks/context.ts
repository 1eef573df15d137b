import { statSync } from "node:fs";
import { alert, thresholdOf, windowOf } from "./alerts.js";
import { type Hook, isAnsweredByLoop } from "./hook.js";

/** After a tool: tells the agent when its context fills up, once for each threshold. */
export const context: Hook = async ({ session, transcript }, { env }) => {
  if (isAnsweredByLoop(env)) return undefined;
  const threshold = thresholdOf(sizeOf(transcript), windowOf(env));
  if (threshold === undefined || session === undefined) return undefined;
  const { isFirst } = await import("./told.js");
  return isFirst(session, threshold, env) ? alert({ threshold, handOver: "stories" }) : undefined;
};

/** A transcript that is not there yet is empty. */
export function sizeOf(transcript: string | undefined): number {
  if (transcript === undefined) return 0;
  return statSync(transcript, { throwIfNoEntry: false })?.size ?? 0;
}
