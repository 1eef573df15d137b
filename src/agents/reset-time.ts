import { createRequire } from "node:module";
import type { ParsedComponents } from "chrono-node";
import { PROGRAM } from "../package-folder.cjs";

const MAX_CHARS = 20_000;
const DAY_MS = 86_400_000;
/** Words that are some minutes old mean the time that has just passed, and not the next one. */
const JUST_PASSED_MS = 10 * 60_000;

/** When a limit ends, from the words in which an agent says so. undefined: it does not say. */
export function resetTime(text: string, now: Date, ownZone = localZone()): Date | undefined {
  // Long runs of white space would be tried in every way in which a pattern can divide them.
  const words = text.slice(0, MAX_CHARS).replace(/\s+/g, (run) => (run.includes("\n") ? "\n" : " "));
  const inMs = spanIn(words);
  return epoch(words) ?? (inMs === undefined ? onTheClock(words, now, ownZone) : valid(+now + inMs));
}

/** undefined: it is no moment at all. */
export function valid(moment: number): Date | undefined {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const EPOCH = /(?:\||\bresets?[\s_]?(?:at)?["']?\s?[:=]?)\s?(\d{10}(?:\d{3})?)(?!\d)/i;

/** `…limit reached|1763280000`, `"resets_at":1763280000`; some count in milliseconds. */
function epoch(text: string): Date | undefined {
  const found = EPOCH.exec(text)?.[1];
  return found === undefined ? undefined : new Date(Number(found.padEnd(13, "0")));
}

const AMOUNT = String.raw`\d+(?:\.\d+)?\s*(?:weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|ms)(?![a-z])`;
const SPAN_LEAD = String.raw`(?:resets?|try again|retry|available(?: again)?|come back|wait)(?:\s+(?:in|after|for))+|wait|retry[-_ ]?after["']?:?|["']?retryDelay["']?:`;
const ABOUT = String.raw`(?:(?:about|around|approximately|roughly|less than|~)\s*)?`;
const SPAN = new RegExp(
  String.raw`\b(?:${SPAN_LEAD})[ \t]*["']?${ABOUT}(?<span>(?:${AMOUNT}[\s,]*(?:and\s+)?)+)`,
  "i",
);
/** A number of seconds without a word for them. */
const BARE = String.raw`(\d+(?:\.\d+)?)(?![\d:-]|\.\d|[ \t]*[a-z])`;
const RETRY_AFTER = new RegExp(
  String.raw`\b(?:retry[-_ ]?after(?:([-_]?ms)|[-_]?sec(?:ond)?s)?|resets?_in_seconds)["']? ?[:=]? ?["']?${BARE}`,
  "i",
);
const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };

/** `try again in 3 hours 12 minutes`, `retry-after: 30`: in how many milliseconds. */
function spanIn(text: string): number | undefined {
  const words = text.replace(/\b(?:an?|one)\s+(?=(?:minute|hour|day|week)\b)/gi, "1 ");
  const { span } = SPAN.exec(words)?.groups ?? {};
  if (span !== undefined) {
    const parts = [...span.matchAll(/(\d+(?:\.\d+)?)\s*(ms|[wdhms])/gi)];
    return parts.reduce(
      (sum, [, count, unit = ""]) => sum + Number(count) * (UNIT_MS[unit.toLowerCase()] ?? 1),
      0,
    );
  }
  const [, inMs, count] = RETRY_AFTER.exec(words) ?? [];
  return count === undefined ? undefined : Number(count) * (inMs ? 1 : 1000);
}

const LEAD =
  /\b(?:resets?|try again|retry|available(?: again)?|wait until|come back|regain access|retry-after:?(?= [a-z]))(?: (?:at|on|after|later|by))*[ \n]+/gi;
const MAX_LEADS = 20;
const MAX_MOMENT_CHARS = 80;
const COASTS: Record<string, string> = { p: "Los_Angeles", m: "Denver", c: "Chicago", e: "New_York" };
const COAST = /\(?\b(?:(pacific|mountain|central|eastern)(?: standard| daylight)? time|([PMCE])T)\b\)?/i;
const ZONE = /\(?\b([A-Z]\w+\/[A-Z][\w+/-]+)\)?/;

/** `resets 1pm (Asia/Seoul)`, `resets Nov 16 at 5am`, `resets 2026-11-16T05:00:00Z` */
function onTheClock(text: string, now: Date, ownZone: string): Date | undefined {
  for (const { index, 0: lead } of [...text.matchAll(LEAD)].slice(0, MAX_LEADS)) {
    const words = text
      .slice(index + lead.length, index + lead.length + MAX_MOMENT_CHARS)
      .replace(/\bmidnight\b/i, "12:00am")
      .replace(/\bnoon\b/i, "12:00pm")
      .replace(/\btues\b/i, "tue")
      .replace(/(\d:\d\d) (?=[a-z]{3,9}\.? \d)/i, "$1 on ")
      .replace(COAST, (_, long = "", short = "") => `America/${COASTS[(long + short)[0].toLowerCase()]}`);
    const [named, zone = ownZone] = ZONE.exec(words) ?? [""];
    const moment = isZone(zone) ? momentIn(words.replace(named, ""), now, zone) : undefined;
    if (moment !== undefined) return moment;
  }
  return undefined;
}

/** It is large, and few runs meet a limit. */
const chrono = (): typeof import("chrono-node/en") => createRequire(PROGRAM)("chrono-node/en");

function momentIn(words: string, now: Date, zone: string): Date | undefined {
  const reference = { instant: now, timezone: offsetAt(+now, zone) / 60_000 };
  const [found] = chrono().casual.parse(words, reference);
  if (found === undefined || found.index > 0 || !isWhole(found.start, found.text)) return undefined;
  const { start } = found;
  const moments = start.isCertain("timezoneOffset") ? [+start.date()] : momentsOf(start, 0, zone);
  if (start.isCertain("day")) return valid(moments[0] ?? Number.NaN);
  const ahead = moments.find((moment) => +now - moment <= JUST_PASSED_MS);
  const days = start.isCertain("weekday") ? 7 : 1;
  if (ahead !== undefined) return valid(ahead);
  if (start.isCertain("timezoneOffset")) return valid(+start.date() + days * DAY_MS);
  return valid(momentsOf(start, days, zone)[0] ?? Number.NaN);
}

/** A bare number is no time of day, and the name of a month no date. */
function isWhole(start: ParsedComponents, text: string): boolean {
  const hasTime = start.isCertain("hour") && /:|[ap]\.?m/i.test(text);
  return hasTime || (!start.isCertain("hour") && (start.isCertain("day") || start.isCertain("weekday")));
}

/** When clocks in a zone show this: in autumn there is an hour that they show twice, in spring one that they skip. */
function momentsOf(time: ParsedComponents, moreDays: number, zone: string): number[] {
  const hasHour = time.isCertain("hour");
  const asUtc = Date.UTC(
    time.get("year") ?? 0,
    (time.get("month") ?? 1) - 1,
    (time.get("day") ?? 1) + moreDays,
    hasHour ? (time.get("hour") ?? 0) : 0,
    hasHour ? (time.get("minute") ?? 0) : 0,
  );
  const moments = [asUtc - DAY_MS, asUtc + DAY_MS].map((at) => asUtc - offsetAt(at, zone));
  const shown = moments.filter((moment) => moment + offsetAt(moment, zone) === asUtc);
  return shown.length > 0 ? shown : moments;
}

/** How far the clocks of a zone are ahead of UTC. */
function offsetAt(moment: number, zone: string): number {
  const minute = Math.floor(moment / 60_000) * 60_000;
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  return Date.parse(`${format.format(minute).replace(" ", "T")}Z`) - minute;
}

function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function isZone(zone: string): boolean {
  try {
    return offsetAt(0, zone) !== undefined;
  } catch {
    return false;
  }
}
