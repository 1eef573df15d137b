const AMOUNT = String.raw`\d+(?:\.\d+)?\s*(?:weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|ms)(?![a-z])`;
const LEAD = String.raw`(?:resets?|try again|retry|available(?: again)?|come back|wait)(?:\s+(?:in|after|for))+|wait|retry[-_ ]?after["']?:?|["']?retryDelay["']?:`;
const ABOUT = String.raw`(?:(?:about|around|approximately|roughly|less than|~)\s*)?`;
const SPAN = new RegExp(
  String.raw`\b(?:${LEAD})[ \t]*["']?${ABOUT}(?<span>(?:${AMOUNT}[\s,]*(?:and\s+)?)+)`,
  "i",
);

/** A number of seconds without a word for them. */
const BARE = String.raw`(\d+(?:\.\d+)?)(?![\d:-]|\.\d|[ \t]*[a-z])`;
const RETRY_AFTER = new RegExp(
  String.raw`\bretry[-_ ]?after(?:([-_]?ms)|[-_]?sec(?:ond)?s)?["']? ?[:=]? ?["']?${BARE}`,
  "i",
);
const IN_SECONDS = new RegExp(String.raw`\bresets?_in_seconds["']?\s*[:=]\s*()${BARE}`, "i");

/** `try again in 3 hours 12 minutes`, `retry-after: 30`: in how many milliseconds, where the words tell it. */
export function spanIn(text: string): number | undefined {
  const words = text.replace(/\b(?:an?|one)\s+(?=(?:minute|hour|day|week)\b)/gi, "1 ");
  const { span } = SPAN.exec(words)?.groups ?? {};
  if (span !== undefined) return lengthOf(span);
  const [, inMs, count] = RETRY_AFTER.exec(words) ?? IN_SECONDS.exec(words) ?? [];
  return count === undefined ? undefined : Number(count) * (inMs ? 1 : 1000);
}

const UNIT_MS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

function lengthOf(span: string): number {
  const parts = [...span.matchAll(/(\d+(?:\.\d+)?)\s*(ms|[wdhms])/gi)];
  return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * msOf(unit), 0);
}

function msOf(unit: string): number {
  return UNIT_MS[unit.toLowerCase()] ?? 0;
}
