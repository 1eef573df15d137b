import { SHORT_NAMES } from "./reset-zone.js";

/** What stands before the time at which a limit ends. */
export const LEADS =
  "(?:resets?|try again|retry|available again|available|wait until|come back|regain access)";
export const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const MONTH = `(?:${MONTHS.join("|")})[a-z]*`;
const DAY_FIRST = new RegExp(
  String.raw`(?<![\d:])\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(${MONTH})\b`,
  "gi",
);

const CLOCK = String.raw`\d{1,2}(?::\d\d){0,2}\s*[ap]\.?m\.?|\d{1,2}(?::\d\d){1,2}`;
const ITS_ZONE = String.raw`(?:\s*\([\w+/-]+\)|\s(?:${SHORT_NAMES})\b)?`;
const DATE = String.raw`${MONTH}\.?\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?\b`;
const WEEKDAY = String.raw`(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b`;
const TIME_FIRST = new RegExp(
  String.raw`\b((?:${CLOCK})${ITS_ZONE})\s*,?\s+(?:on\s+)?(tomorrow\b|(?:later )?today\b|${WEEKDAY}|${DATE})`,
  "gi",
);

const COASTS: Record<string, string> = { p: "Los_Angeles", m: "Denver", c: "Chicago", e: "New_York" };
const LONG_ZONE = /\(?\b(pacific|mountain|central|eastern)(?: standard| daylight)? time\b\)?/gi;
const SHORT_ZONE = /\(?\b([PMCE])T\b\)?/g;

/** `16 November, 5am`, `5am on Nov 16`, `midnight Pacific time`: with the date first, and a zone that is known. */
export function inOrder(text: string): string {
  return text
    .replace(/\bmidnight\b/gi, "12:00am")
    .replace(/\bnoon\b/gi, "12:00pm")
    .replace(LONG_ZONE, onItsCoast)
    .replace(SHORT_ZONE, onItsCoast)
    .replace(DAY_FIRST, "$2 $1")
    .replace(TIME_FIRST, "$2 at $1");
}

function onItsCoast(_: string, name: string): string {
  return `(America/${COASTS[name.slice(0, 1).toLowerCase()]})`;
}
