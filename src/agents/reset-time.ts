import { isZone, localZone, momentOf, type WallTime, wallTimeAt } from "../zoned-time.js";

/** When a limit ends, from the words in which an agent tells it. undefined: it does not tell. */
export function resetTime(text: string, now: Date, ownZone = localZone()): Date | undefined {
  return afterBar(text) ?? timestamp(text) ?? relative(text, now) ?? onTheClock(text, now, ownZone);
}

/** `…limit reached|1763280000` */
function afterBar(text: string): Date | undefined {
  const found = /\|\s*(\d{10}(?:\d{3})?)\b/.exec(text)?.[1];
  if (found === undefined) return undefined;
  return new Date(Number(found) * (found.length === 10 ? 1000 : 1));
}

const LEADS = "(?:resets?|try again|retry|available again|available|wait until|come back)";

/** `resets 2026-11-16T05:00:00Z` */
function timestamp(text: string): Date | undefined {
  const iso = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)`;
  const found = new RegExp(`\\b${LEADS}\\s+(?:at\\s+|on\\s+)?(${iso})`, "i").exec(text)?.[1];
  return found === undefined ? undefined : valid(new Date(found.replace(" ", "T")));
}

const AMOUNT = String.raw`\d+(?:\.\d+)?\s*(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|ms)(?![a-z])`;
const SPAN = new RegExp(
  String.raw`\b(?:(?:resets?|reset|try again|retry|available|wait)(?:\s+(?:in|after|for))+|retry[- ]?after:?|"?retryDelay"?:)\s*"?((?:${AMOUNT}[\s,]*(?:and\s+)?)+|\d+\b)`,
  "i",
);

/** `try again in 3 hours 12 minutes`, `retry-after: 30` */
function relative(text: string, now: Date): Date | undefined {
  const span = SPAN.exec(text)?.[1];
  if (span === undefined) return undefined;
  if (/^\d+$/.test(span)) return new Date(now.getTime() + Number(span) * 1000);
  const parts = [...span.matchAll(/(\d+(?:\.\d+)?)\s*(ms|[dhms])/gi)];
  const ms = parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * msOf(unit), 0);
  return valid(new Date(now.getTime() + ms));
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function msOf(unit: string): number {
  return UNIT_MS[unit.toLowerCase()] ?? 0;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const DATE = String.raw`(?<month>${MONTHS.join("|")})[a-z]*\.?\s+(?<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?<year>\d{4}))?`;
const WEEKDAY = `(?<weekday>${DAYS.join("|")})[a-z]*`;
const TIME = String.raw`(?<hour>\d{1,2})(?::(?<minute>\d\d))?\s*(?<half>[ap]\.?m\.?)?(?![\d:.]*\d)`;
const ZONE = String.raw`\s*(?:\((?<zone>[\w+/-]+)\)|(?<utc>UTC|GMT)\b)?`;
const ON_THE_CLOCK = new RegExp(
  String.raw`\b${LEADS}\s+(?:at\s+|on\s+)?(?:(?:${DATE}|${WEEKDAY}|(?<tomorrow>tomorrow))(?:\s*,?\s*(?:at\s+)?${TIME})?|${TIME.replace(/<(\w+)>/g, "<$1Only>")})${ZONE}`,
  "i",
);

/** `resets 1pm (Asia/Seoul)`, `resets Nov 16 at 5am`, `try again at Nov 16th, 2026 5:00 AM` */
function onTheClock(text: string, now: Date, ownZone: string): Date | undefined {
  const found = ON_THE_CLOCK.exec(text)?.groups;
  if (found === undefined) return undefined;
  const zone = found["zone"] ?? (found["utc"] === undefined ? ownZone : "UTC");
  const clock = clockTime(found);
  if (clock === undefined || !isZone(zone)) return undefined;
  const today = { ...wallTimeAt(now, zone), ...clock };
  if (found["month"] !== undefined) return onDate(found, today, now, zone);
  if (found["weekday"] !== undefined) return onWeekday(found["weekday"], today, now, zone);
  if (found["tomorrow"] !== undefined) return momentOf({ ...today, day: today.day + 1 }, zone);
  return nextMoment(today, now, zone, 1);
}

function clockTime(found: Record<string, string>): Pick<WallTime, "hour" | "minute"> | undefined {
  const named = found["hour"] ?? found["hourOnly"];
  const half = (found["half"] ?? found["halfOnly"])?.[0]?.toLowerCase();
  const minutes = found["minute"] ?? found["minuteOnly"];
  if (named === undefined) return { hour: 0, minute: 0 };
  // A bare number is no time of day.
  if (half === undefined && minutes === undefined) return undefined;
  const [hour, minute] = [Number(named), Number(minutes ?? 0)];
  if (minute > 59 || hour > (half === undefined ? 23 : 12)) return undefined;
  return { hour: half === undefined ? hour : (hour % 12) + (half === "p" ? 12 : 0), minute };
}

const DAY_MS = 86_400_000;

/** A date without a year is the next one, or the one that has just passed. */
function onDate(found: Record<string, string>, today: WallTime, now: Date, zone: string): Date {
  const month = MONTHS.indexOf((found["month"] ?? "").toLowerCase()) + 1;
  const year = found["year"] === undefined ? today.year : Number(found["year"]);
  const moment = momentOf({ ...today, year, month, day: Number(found["day"]) }, zone);
  const isLongPast = found["year"] === undefined && now.getTime() - moment.getTime() > 30 * DAY_MS;
  return isLongPast ? momentOf({ ...today, year: year + 1, month, day: Number(found["day"]) }, zone) : moment;
}

function onWeekday(name: string, today: WallTime, now: Date, zone: string): Date {
  const current = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
  const days = (DAYS.indexOf(name.toLowerCase()) - current + 7) % 7;
  return nextMoment({ ...today, day: today.day + days }, now, zone, 7);
}

/** Words that are some minutes old mean the time that has just passed, and not the next one. */
const JUST_PASSED_MS = 10 * 60_000;

function nextMoment(time: WallTime, now: Date, zone: string, everyDays: number): Date {
  const first = momentOf(time, zone);
  const isOver = now.getTime() - first.getTime() > JUST_PASSED_MS;
  return isOver ? momentOf({ ...time, day: time.day + everyDays }, zone) : first;
}

function valid(moment: Date): Date | undefined {
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
