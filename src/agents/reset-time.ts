import { isZone, localZone, momentOf, momentsOf, type WallTime, wallTimeAt } from "../zoned-time.js";

/** When a limit ends, from the words in which an agent tells it. undefined: it does not tell. */
export function resetTime(text: string, now: Date, ownZone = localZone()): Date | undefined {
  const words = text.replace(/\bmidnight\b/gi, "12:00am").replace(/\bnoon\b/gi, "12:00pm");
  const told = afterBar(words) ?? httpDate(words) ?? timestamp(words, ownZone) ?? relative(words, now);
  return told ?? onTheClock(words, now, ownZone);
}

/** `retry-after: Mon, 16 Nov 2026 05:00:00 GMT` */
function httpDate(text: string): Date | undefined {
  const found = /\bretry-after:?\s+(\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT)/i.exec(text)?.[1];
  return found === undefined ? undefined : valid(new Date(found));
}

/** `…limit reached|1763280000` */
function afterBar(text: string): Date | undefined {
  const found = /\|\s*(\d{10}(?:\d{3})?)\b/.exec(text)?.[1];
  if (found === undefined) return undefined;
  return new Date(Number(found) * (found.length === 10 ? 1000 : 1));
}

const LEADS = "(?:resets?|try again|retry|available again|available|wait until|come back)";

const ISO = String.raw`(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)?`;
const TIMESTAMP = new RegExp(String.raw`\b${LEADS}\s+(?:at\s+|on\s+)?${ISO}`, "i");

/** `resets 2026-11-16T05:00:00Z`, `resets 2026-11-16 05:00:00 UTC` */
function timestamp(text: string, ownZone: string): Date | undefined {
  const [, date, time, zone] = TIMESTAMP.exec(text) ?? [];
  if (date === undefined) return undefined;
  if (zone !== undefined) return valid(new Date(`${date}T${time}${/^[+-]/.test(zone) ? zone : "Z"}`));
  const shown = valid(new Date(`${date}T${time}Z`));
  return shown && momentOf(wallTimeAt(shown, "UTC"), ownZone);
}

const AMOUNT = String.raw`\d+(?:\.\d+)?\s*(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|ms)(?![a-z])`;
const SPAN = new RegExp(
  String.raw`\b(?:(?:resets?|reset|try again|retry|available|wait)(?:\s+(?:in|after|for))+|wait\b|retry[- ]?after(?<ms>-ms)?:?|"?retryDelay"?:)[ \t]*"?(?:(?:about|around|approximately|roughly|less than|~)\s*)?(?<span>(?:${AMOUNT}[\s,]*(?:and\s+)?)+|\d+\b(?!:\d|\s?[ap]\.?m\b))`,
  "i",
);

/** `try again in 3 hours 12 minutes`, `retry-after: 30` */
function relative(text: string, now: Date): Date | undefined {
  const { span, ms: inMs } = SPAN.exec(text)?.groups ?? {};
  if (span === undefined) return undefined;
  if (/^\d+$/.test(span))
    return valid(new Date(now.getTime() + Number(span) * (inMs === undefined ? 1000 : 1)));
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
/** Minutes ahead of UTC. */
const SHORT_ZONES: Record<string, number> = {
  ...{ UTC: 0, GMT: 0, BST: 60, CET: 60, CEST: 120, EET: 120, EEST: 180, IST: 330, JST: 540, KST: 540 },
  ...{ EST: -300, EDT: -240, CST: -360, CDT: -300, MST: -420, MDT: -360, PST: -480, PDT: -420 },
};
const ZONE = String.raw`\s*(?:\((?<zone>[\w+/-]+)\)|\(?(?<short>(?:UTC|GMT)[+-]\d{1,2}(?::?\d\d)?|${Object.keys(SHORT_ZONES).join("|")})\b)?`;
const ON_THE_CLOCK = new RegExp(
  String.raw`\b${LEADS}\s+(?:at\s+|on\s+|after\s+)?(?:(?:${DATE}|${WEEKDAY}|(?<tomorrow>tomorrow))(?:\s*,?\s*(?:at\s+)?${TIME})?|${TIME.replace(/<(\w+)>/g, "<$1Only>")})${ZONE}`,
  "i",
);

/** `resets 1pm (Asia/Seoul)`, `resets Nov 16 at 5am`, `try again at Nov 16th, 2026 5:00 AM` */
function onTheClock(text: string, now: Date, ownZone: string): Date | undefined {
  const found = ON_THE_CLOCK.exec(text)?.groups;
  if (found === undefined) return undefined;
  const minutes = minutesAhead(found["short"] ?? found["zone"] ?? "");
  if (minutes === undefined) return nextOf(found, now, found["zone"] ?? ownZone);
  const shown = nextOf(found, new Date(now.getTime() + minutes * 60_000), "UTC");
  return shown && new Date(shown.getTime() - minutes * 60_000);
}

/** `PST`, `UTC+2`; undefined: it is no such zone. */
function minutesAhead(zone: string): number | undefined {
  const [, sign, hours = "", minutes = "0"] = /^(?:UTC|GMT)([+-])(\d{1,2}):?(\d\d)?$/i.exec(zone) ?? [];
  if (sign === undefined) return SHORT_ZONES[zone.toUpperCase()];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function nextOf(found: Record<string, string>, now: Date, zone: string): Date | undefined {
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
  const inYear = (year: number): Date => momentOf({ ...today, year, month, day: Number(found["day"]) }, zone);
  if (found["year"] !== undefined) return inYear(Number(found["year"]));
  const isNear = (moment: Date): boolean => now.getTime() - moment.getTime() <= 30 * DAY_MS;
  return [today.year - 1, today.year].map(inYear).find(isNear) ?? inYear(today.year + 1);
}

function onWeekday(name: string, today: WallTime, now: Date, zone: string): Date {
  const current = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
  const days = (DAYS.indexOf(name.toLowerCase()) - current + 7) % 7;
  return nextMoment({ ...today, day: today.day + days }, now, zone, 7);
}

/** Words that are some minutes old mean the time that has just passed, and not the next one. */
const JUST_PASSED_MS = 10 * 60_000;

function nextMoment(time: WallTime, now: Date, zone: string, everyDays: number): Date {
  const isAhead = (moment: Date): boolean => now.getTime() - moment.getTime() <= JUST_PASSED_MS;
  return momentsOf(time, zone).find(isAhead) ?? momentOf({ ...time, day: time.day + everyDays }, zone);
}

function valid(moment: Date): Date | undefined {
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
