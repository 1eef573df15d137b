import type { Hook } from "./hook.cjs";
import { openSession } from "./session.cjs";

/**
 * At the start of a session: its own thresholds count anew. A context that was compacted goes on: its
 * transcript is as long as before, and the agent would hear everything again.
 */
export const sessionStart: Hook = async ({ session, sent }, { env }) => {
  if (session !== undefined && sent["source"] !== "compact") openSession("context", session, env).forget();
  return undefined;
};
