import { createRequire } from "node:module";
import { PROGRAM } from "../package-folder.cjs";

const MAX_CHARS = 20_000;
const MAX_LEADS = 20;
const MAX_MOMENT_CHARS = 80;
const DAY_MS = 86_400_000;
/** A text that is some minutes old means the time that has just passed, not the next day's. */
const JUST_PASSED_MS = 10 * 60_000;

/** `…limit reached|1763280000`, `"resets_at":1763280000`; some count in milliseconds. */
const EPOCH = /(?:\||\bresets?[\s_]?(?:at)?["']?\s?[:=]?)\s?(\d{10}(?:\d{3})?)(?!\d)/i;
const KEYS = "resets?_in_seconds|retry[-_ ]?after(?:[-_]?(?:ms|sec(?:ond)?s))?|retryDelay";
const VERBS = "resets?|try again|retry|available(?: again)?|wait(?: until)?|come back|regain access";
const LEAD = new RegExp(
  String.raw`\b(?:${KEYS}|${VERBS})(?![a-z])["']?[:=]? ?["']?(?:(?:at|on|in|after|for|later|by)[ \n])*`,
  "gi",
);
/** A number without a unit. */
const BARE = /^\d+(?:\.\d+)?(?![\d:-]|\.\d|[ \t]*[a-z])/i;
const ZONE = /\(?\b([A-Z]\w+\/[A-Z][\w+/-]+)\)?/;
const COAST = /\b([pmce])(?:acific|ountain|entral|astern)(?: standard| daylight)? time\b/i;

/** When a limit ends, according to the agent's words. undefined: they do not say. */
export function resetTime(
  text: string,
  now: Date,
  ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone,
): Date | undefined {
  // A pattern would try every way to divide long runs of white space.
  const all = text.slice(0, MAX_CHARS).replace(/\s+/g, (run) => (run.includes("\n") ? "\n" : " "));
  const epoch = EPOCH.exec(all)?.[1];
  if (epoch !== undefined) return new Date(Number(epoch.padEnd(13, "0")));
  for (const { index, 0: lead } of [...all.matchAll(LEAD)].slice(0, MAX_LEADS)) {
    const words = all
      .slice(index + lead.length, index + lead.length + MAX_MOMENT_CHARS)
      .replace(/^less than | before\b.*/gs, "")
      .replace(/^(\d+)ms\b/, (_, ms) => `${Number(ms) / 1000}s`)
      .replace(/(\d:\d\d) (?=[a-z]{3,9}\.? \d)/i, "$1 on ")
      .replace(COAST, "$1T");
    const moment = spanIn(lead, words, now) ?? onTheClock(words, now, ownZone);
    if (moment !== undefined) return moment;
  }
  return undefined;
}

/** undefined: not a valid moment. */
export function valid(moment: number): Date | undefined {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Loaded late: the parser is large, and few runs meet a limit. */
function parse(words: string, now: Date, timezone: number) {
  const chrono: typeof import("chrono-node/en") = createRequire(PROGRAM)("chrono-node/en");
  const [found] = chrono.casual.parse(words, { instant: now, timezone });
  return found?.index === 0 ? found : undefined;
}

/** `3 hours 12 minutes`, `30` after `retry-after:` */
function spanIn(lead: string, words: string, now: Date): Date | undefined {
  const [bare] = /after|seconds/i.test(lead) ? (BARE.exec(words) ?? []) : [];
  if (bare !== undefined) return valid(+now + Number(bare) * (/ms/i.test(lead) ? 1 : 1000));
  return /^(?:\d|an? |about|around|~)/i.test(words) ? parse(`in ${words}`, now, 0)?.start.date() : undefined;
}

/** `1pm (Asia/Seoul)`, `Nov 16 at 5am`, `2026-11-16T05:00:00Z` */
function onTheClock(words: string, now: Date, ownZone: string): Date | undefined {
  const [named, zone = ownZone] = ZONE.exec(words) ?? [""];
  const offset = offsetAt(+now, zone);
  const { start, text = "" } = (!Number.isNaN(offset) && parse(words.replace(named, ""), now, offset)) || {};
  const isDay = start?.isCertain("day");
  // A bare number is no time of day, and a bare month is no date.
  const isHour = start?.isCertain("hour") && /:|[ap]\.?m|noon|midnight/i.test(text);
  if (start === undefined || !(isHour || isDay || start.isCertain("weekday"))) return undefined;
  let moment = +start.date() - (isHour ? 0 : DAY_MS / 2);
  if (!isDay && +now - moment > JUST_PASSED_MS) moment += DAY_MS * (start.isCertain("weekday") ? 7 : 1);
  // The clocks may change until then.
  return valid(
    start.isCertain("timezoneOffset") ? moment : moment + (offset - offsetAt(moment, zone)) * 60_000,
  );
}

/** By how many minutes a zone is ahead of UTC; NaN: no such zone. */
function offsetAt(moment: number, timeZone: string): number {
  try {
    const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
    const minute = Math.floor(moment / 60_000);
    return Date.parse(`${format.format(minute * 60_000).replace(" ", "T")}Z`) / 60_000 - minute;
  } catch {
    return Number.NaN;
  }
}
