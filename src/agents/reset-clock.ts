import { momentOf, momentsOf, type WallTime, wallTimeAt } from "../zoned-time.js";
import { LEADS, MONTHS } from "./date-words.js";
import { inToldZone, ZONE } from "./reset-zone.js";

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const DATE = String.raw`(?<month>${MONTHS.join("|")})[a-z]*\.?\s+(?<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?<year>\d{4}))?`;
const WEEKDAY = String.raw`(?<weekday>${DAYS.join("|")})(?:r?s|[a-z]*day)?\b\.?`;
const TIME = String.raw`(?<hour>\d{1,2})(?::(?<minute>\d\d)(?::\d\d)?)?\s*(?<half>[ap]\.?m\.?)?(?![\d:.]*\d)`;
const ON_THE_CLOCK = new RegExp(
  String.raw`\b${LEADS}\s+(?:at\s+|on\s+|after\s+)?(?:(?:(?:${WEEKDAY.replace("weekday", "said")},?\s+)?${DATE}|${WEEKDAY}|(?<tomorrow>tomorrow)|(?:later\s+)?(?<today>today))(?:\s*,?\s*(?:at\s+)?${TIME})?|${TIME.replace(/<(\w+)>/g, "<$1Only>")})${ZONE}`,
  "gi",
);

/** `resets 1pm (Asia/Seoul)`, `resets Nov 16 at 5am`; the words are in order. */
export function onTheClock(text: string, now: Date, ownZone: string): Date | undefined {
  for (const { groups = {} } of text.matchAll(ON_THE_CLOCK)) {
    const moment = inToldZone(groups, now, ownZone, (zone, shown) => nextOf(groups, shown, zone));
    if (moment !== undefined) return moment;
  }
  return undefined;
}

function nextOf(found: Record<string, string>, now: Date, zone: string): Date | undefined {
  const clock = clockTime(found);
  if (clock === undefined) return undefined;
  const today = { ...wallTimeAt(now, zone), ...clock };
  if (found["month"] !== undefined) return onDate(found, today, now, zone);
  if (found["weekday"] !== undefined) return onWeekday(found["weekday"], today, now, zone);
  if (found["tomorrow"] !== undefined) return momentOf({ ...today, day: today.day + 1 }, zone);
  if (found["today"] !== undefined) return momentOf(today, zone);
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
