import { html, type Markup } from "./markup.js";

const DAY_AND_TIME = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});
const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "UTC" });

/** `26 Jan 2026, 18:55 to 19:20 UTC`; null when nothing is known. */
export function whenOf(from: string, to: string): Markup | null {
  if (Number.isNaN(Date.parse(from))) return null;
  const begin = html`<time datetime="${from}">${DAY_AND_TIME.format(new Date(from))}</time>`;
  if (Number.isNaN(Date.parse(to))) return html`${begin} UTC`;
  const until = endOf(new Date(from), new Date(to));
  return until === null ? html`${begin} UTC` : html`${begin} to <time datetime="${to}">${until}</time> UTC`;
}

export function clockTime(ts: string): string | null {
  return Number.isNaN(Date.parse(ts)) ? null : TIME.format(new Date(ts));
}

/** No more than what differs from the beginning. */
function endOf(from: Date, to: Date): string | null {
  if (DAY_AND_TIME.format(from) === DAY_AND_TIME.format(to)) return null;
  const isSameDay = from.toISOString().slice(0, 10) === to.toISOString().slice(0, 10);
  return (isSameDay ? TIME : DAY_AND_TIME).format(to);
}
