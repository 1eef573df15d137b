import type { DoctorContext } from "./context.js";
import type { Finding } from "./finding.js";

/** No release of ralph is older. */
const EARLIEST = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
/** Some file systems keep times in steps of two seconds. */
const ALLOWED_SKEW_MS = 5000;

/** Records, limits and changed files are told by the clock. */
export function clockFinding({ now, builtAt }: DoctorContext, skews: number[]): Finding {
  const base = { name: "clock", fix: "set the clock, for example: timedatectl set-ntp true" };
  const shown = `${now.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  if (now.getTime() < EARLIEST) return { ...base, status: "problem", message: `${shown} cannot be right` };
  if (now.getTime() < builtAt.getTime() - DAY_MS)
    return { ...base, status: "warning", message: `${shown} is before this program was installed` };
  if (skews.length === 0) return { name: "clock", status: "ok", message: shown };
  const skewMs = Math.max(...skews);
  if (skewMs <= ALLOWED_SKEW_MS)
    return { name: "clock", status: "ok", message: `${shown}, and file times agree with it` };
  return {
    name: "clock",
    status: "warning",
    message: `file times are ${Math.round(skewMs / 1000)} s away from the clock, so changed files are miscounted`,
    fix: "set the clocks of this machine and of its file server by NTP",
  };
}
