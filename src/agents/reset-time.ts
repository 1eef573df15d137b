import { localZone, momentOf, wallTimeAt } from "../zoned-time.js";
import { inOrder, LEADS } from "./date-words.js";
import { onTheClock } from "./reset-clock.js";
import { spanIn } from "./reset-span.js";
import { inToldZone, ZONE } from "./reset-zone.js";

const MAX_CHARS = 20_000;

/** When a limit ends, from the words in which an agent tells it. undefined: it does not tell. */
export function resetTime(text: string, now: Date, ownZone = localZone()): Date | undefined {
  const words = squeezed(text.slice(0, MAX_CHARS));
  const ordered = inOrder(words);
  const told = epoch(words) ?? httpDate(words) ?? timestamp(ordered, now, ownZone) ?? relative(words, now);
  return told ?? onTheClock(ordered, now, ownZone);
}

/** undefined: it is no moment at all. */
export function valid(moment: Date): Date | undefined {
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}

/** Long runs of white space would be tried in every way in which a pattern can divide them. */
function squeezed(text: string): string {
  return text.replace(/\s+/g, (run) => (run.includes("\n") ? "\n" : " "));
}

const EPOCH = /(?:\||\bresets?[\s_]?(?:at)?["']?\s?[:=]?)\s?(\d{10}(?:\d{3})?)(?!\d)/i;

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

const ISO = String.raw`(?<date>\d{4}-\d\d-\d\d)(?:T|,? (?:at )?)(?<time>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?!\s?[ap]\.?m\b)`;
const TIMESTAMP = new RegExp(
  String.raw`\b${LEADS}\s+(?:(?:at|on|after)\s+)?${ISO}(?:\s?(?<offset>Z\b|[+-]\d\d:?\d\d)|${ZONE})`,
  "gi",
);

/** `resets 2026-11-16T05:00:00Z`, `resets 2026-11-16 05:00:00 UTC` */
function timestamp(text: string, now: Date, ownZone: string): Date | undefined {
  for (const { groups = {} } of text.matchAll(TIMESTAMP)) {
    const { date, time, offset } = groups;
    const shown = valid(new Date(`${date}T${time}${offset ?? "Z"}`));
    const showing = (zone: string): Date | undefined => shown && momentOf(wallTimeAt(shown, "UTC"), zone);
    const moment = offset === undefined ? inToldZone(groups, now, ownZone, showing) : shown;
    if (moment !== undefined) return moment;
  }
  return undefined;
}

/** `try again in 3 hours 12 minutes` */
function relative(text: string, now: Date): Date | undefined {
  const ms = spanIn(text);
  return ms === undefined ? undefined : valid(new Date(now.getTime() + ms));
}
