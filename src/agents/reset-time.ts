import { localZone, momentOf, wallTimeAt } from "../zoned-time.js";
import { onTheClock } from "./reset-clock.js";
import { spanIn } from "./reset-span.js";

/** When a limit ends, from the words in which an agent tells it. undefined: it does not tell. */
export function resetTime(text: string, now: Date, ownZone = localZone()): Date | undefined {
  const told = epoch(text) ?? httpDate(text) ?? timestamp(text, ownZone) ?? relative(text, now);
  return told ?? onTheClock(text, now, ownZone);
}

const EPOCH = /(?:\||\bresets?[\s_]*(?:at)?["']?\s*[:=]?)\s*(\d{10}(?:\d{3})?)(?!\d)/i;

/** `…limit reached|1763280000`, `"resets_at":1763280000`; some count in milliseconds. */
function epoch(text: string): Date | undefined {
  const found = EPOCH.exec(text)?.[1];
  if (found === undefined) return undefined;
  return new Date(Number(found) * (found.length === 10 ? 1000 : 1));
}

/** `retry-after: Mon, 16 Nov 2026 05:00:00 GMT` */
function httpDate(text: string): Date | undefined {
  const found = /\bretry-after:?\s+(\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT)/i.exec(text)?.[1];
  return found === undefined ? undefined : valid(new Date(found));
}

const LEADS = "(?:resets?|try again|retry|available again|available|wait until|come back)";
const ISO = String.raw`(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)?`;
const TIMESTAMP = new RegExp(String.raw`\b${LEADS}\s+(?:(?:at|on|after)\s+)?${ISO}`, "i");

/** `resets 2026-11-16T05:00:00Z`, `resets 2026-11-16 05:00:00 UTC` */
function timestamp(text: string, ownZone: string): Date | undefined {
  const [, date, time, zone] = TIMESTAMP.exec(text) ?? [];
  if (date === undefined) return undefined;
  if (zone !== undefined) return valid(new Date(`${date}T${time}${/^[+-]/.test(zone) ? zone : "Z"}`));
  const shown = valid(new Date(`${date}T${time}Z`));
  return shown && momentOf(wallTimeAt(shown, "UTC"), ownZone);
}

/** `try again in 3 hours 12 minutes` */
function relative(text: string, now: Date): Date | undefined {
  const ms = spanIn(text);
  return ms === undefined ? undefined : valid(new Date(now.getTime() + ms));
}

function valid(moment: Date): Date | undefined {
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
