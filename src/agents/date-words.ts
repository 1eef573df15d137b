export const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const MONTH = `(?:${MONTHS.join("|")})[a-z]*`;
const DAY_FIRST = new RegExp(String.raw`\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(${MONTH})\b`, "gi");
const TIME_FIRST = new RegExp(
  String.raw`\b(\d{1,2}(?::\d\d)?\s*[ap]\.?m\.?)\s*,?\s+(?:on\s+)?(tomorrow|${MONTH}\.?\s+\d{1,2}(?:st|nd|rd|th)?)\b`,
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
    .replace(DAY_FIRST, "$2 $1")
    .replace(TIME_FIRST, "$2 at $1")
    .replace(LONG_ZONE, onItsCoast)
    .replace(SHORT_ZONE, onItsCoast);
}

function onItsCoast(_: string, name: string): string {
  return `(America/${COASTS[name.slice(0, 1).toLowerCase()]})`;
}
