import { isZone, momentOf, momentsOf, type WallTime, wallTimeAt } from "../zoned-time.js";
import { inOrder, MONTHS } from "./date-words.js";

const LEADS = "(?:resets?|try again|retry|available again|available|wait until|come back)";
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const DATE = String.raw`(?<month>${MONTHS.join("|")})[a-z]*\.?\s+(?<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?<year>\d{4}))?`;
const WEEKDAY = String.raw`(?<weekday>${DAYS.join("|")})(?:r?s|[a-z]*day)?\b\.?`;
const TIME = String.raw`(?<hour>\d{1,2})(?::(?<minute>\d\d)(?::\d\d)?)?\s*(?<half>[ap]\.?m\.?)?(?![\d:.]*\d)`;
/** Minutes ahead of UTC. */
const SHORT_ZONES: Record<string, number> = {
  ...{ UTC: 0, GMT: 0, BST: 60, CET: 60, CEST: 120, EET: 120, EEST: 180, IST: 330, JST: 540, KST: 540 },
  ...{ EST: -300, EDT: -240, CST: -360, CDT: -300, MST: -420, MDT: -360, PST: -480, PDT: -420 },
  ...{ WET: 0, WEST: 60, MSK: 180, SGT: 480, HKT: 480, AWST: 480, AEST: 600, AEDT: 660, BRT: -180 },
};
const ZONE = String.raw`\s*(?:\((?<zone>[\w+/-]+)\)|(?<bare>[A-Z]\w+/[A-Z][\w+/-]+)|\(?(?<short>(?:UTC|GMT)[+-]\d{1,2}(?::?\d\d)?|${Object.keys(SHORT_ZONES).join("|")})\b)?`;
const ON_THE_CLOCK = new RegExp(
  String.raw`\b${LEADS}\s+(?:at\s+|on\s+|after\s+)?(?:(?:(?:${WEEKDAY.replace("weekday", "said")},?\s+)?${DATE}|${WEEKDAY}|(?<tomorrow>tomorrow))(?:\s*,?\s*(?:at\s+)?${TIME})?|${TIME.replace(/<(\w+)>/g, "<$1Only>")})${ZONE}`,
  "i",
);

/** `resets 1pm (Asia/Seoul)`, `resets Nov 16 at 5am`, `try again at Nov 16th, 2026 5:00 AM` */
export function onTheClock(text: string, now: Date, ownZone: string): Date | undefined {
  const found = ON_THE_CLOCK.exec(inOrder(text))?.groups;
  if (found === undefined) return undefined;
  const zone = found["zone"] ?? found["bare"];
  const minutes = minutesAhead(found["short"] ?? zone ?? "");
  if (minutes === undefined) return nextOf(found, now, zone ?? ownZone);
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
function onDate(found: Record<string, string>, today: WallTime, now: Date, zone: string): Date | undefined {
  const month = MONTHS.indexOf((found["month"] ?? "").toLowerCase()) + 1;
  const day = Number(found["day"]);
  if (day < 1 || day > daysOf(month)) return undefined;
  const inYear = (year: number): Date => momentOf({ ...today, year, month, day }, zone);
  if (found["year"] !== undefined) return inYear(Number(found["year"]));
  const isNear = (moment: Date): boolean => now.getTime() - moment.getTime() <= 30 * DAY_MS;
  return [today.year - 1, today.year].map(inYear).find(isNear) ?? inYear(today.year + 1);
}

/** At the most. */
function daysOf(month: number): number {
  return new Date(Date.UTC(2000, month, 0)).getUTCDate();
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
