import type { StopReason } from "./events.js";

const SUCCESS: StopReason[] = ["completed", "all_checks_passed"];

/** Whether a run that stopped for this reason has done what it was asked to. */
export function isSuccess(reason: StopReason | null | undefined): boolean {
  return reason != null && SUCCESS.includes(reason);
}
