import type { Report } from "../../../records/report.js";
import { html, type Markup } from "./markup.js";

const DAY_AND_TIME = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});
const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "UTC" });

/** `26 Jan 2026, 18:55 to 19:20 UTC`; null when nothing is known. */
export function whenOf({ startedAt, lastAt, reason }: Report): Markup | null {
  if (!isTime(startedAt)) return null;
  const begin = html`<time datetime="${startedAt}">${DAY_AND_TIME.format(new Date(startedAt))}</time>`;
  const until = isTime(lastAt) ? endOf(new Date(startedAt), new Date(lastAt)) : null;
  if (until === null) return html`${begin} UTC`;
  const end = html`<time datetime="${lastAt}">${until}</time>`;
  return reason === null ? html`since ${begin}, last record ${end} UTC` : html`${begin} to ${end} UTC`;
}

export function clockTime(ts: string): string | null {
  return isTime(ts) ? TIME.format(new Date(ts)) : null;
}

/** No more than what differs from the beginning. */
function endOf(from: Date, to: Date): string | null {
  if (DAY_AND_TIME.format(from) === DAY_AND_TIME.format(to)) return null;
  const isSameDay = from.toISOString().slice(0, 10) === to.toISOString().slice(0, 10);
  return (isSameDay ? TIME : DAY_AND_TIME).format(to);
}

function isTime(ts: string): boolean {
  return !Number.isNaN(Date.parse(ts));
}
