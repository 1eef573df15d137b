import type { Attendance } from "../run/attend.js";
import type { Settings } from "../settings/schema.js";

/** What is done beside showing a run. Addresses of webhooks are not kept with the run: they are secret. */
export function attendanceFrom(
  { inhibit = true, verbose = false }: { inhibit?: boolean; verbose?: boolean },
  { notify }: Settings,
): Attendance {
  return { notify, keepAwake: inhibit, verbose };
}
